/* A stretch of damage as a JSON object. */
#ifndef RECMAP_DATASET_DESCRIBE_DAMAGE_JSON_H
#define RECMAP_DATASET_DESCRIBE_DAMAGE_JSON_H

#include <recmap/dataset.h>

#include "base/text/json.h"

/* {"path", "offset", "length", "reason"}, and "record" if the damage names one. */
static inline void damage_write_json(struct json_writer *json, const recmap_damage *damage) {
    json_open(json, '{');
    json_key(json, "path");
    json_path(json, damage->path);
    if (damage->record != RECMAP_NO_RECORD) {
        json_key(json, "record");
        json_uint64(json, damage->record);
    }
    json_key(json, "offset");
    json_uint64(json, damage->offset);
    json_key(json, "length");
    json_uint64(json, damage->size);
    json_key(json, "reason");
    json_text(json, damage->reason);
    json_close(json, '}');
}

#endif
