#include "dataset/describe/record_framing.h"

#include "base/text/json.h"
#include "base/text/json_reader.h"
#include "dataset/open/dataset.h"
#include "format/framing/lines.h"

const struct framing *record_framing(const recmap_dataset *dataset, uint64_t number) {
    struct index_place place;
    if (number >= dataset->info.record_count ||
        dataset_find_place(&place, dataset, number, NULL) != RECMAP_OK)
        return NULL;
    return dataset->shard_table[place.shard_index].framing;
}

bool record_is_json(const struct framing *framing, const recmap_record *record) {
    if (!framing || framing->parse != lines_framing.parse) return false;
    const char *text = (const char *)record->data;
    struct json_reader reader = {text, text + record->size};
    return json_peek(&reader) == '{' && json_check_value(&reader) && json_at_end(&reader) &&
           utf8_valid(record->data, record->size);
}
