/* Which kind of text the records of a shard are, by its framing. */
#ifndef RECMAP_TOOLS_OUTPUT_TEXT_KIND_H
#define RECMAP_TOOLS_OUTPUT_TEXT_KIND_H

#include <recmap/dataset.h>

enum text_kind {
    TEXT_NONE, /* the framing is not one of text */
    TEXT_ROW,
    TEXT_JSON, /* lines, which are JSON objects if they have fields */
};

/* `dataset` may be NULL. */
enum text_kind text_kind_find(recmap_dataset *dataset, uint64_t number);

/* What a record should be: "a row of CSV", "a JSON object"; "a tf.Example" for TEXT_NONE. */
const char *text_kind_name(enum text_kind kind);

#endif
