#include "dataset/doctor/examination.h"

struct finding_place examination_place(const struct examination *examination, uint64_t item) {
    uint64_t number = examination_number(examination, item);
    const struct listed_entry *entry = shard_list_find(&examination->shards, number);
    struct finding_place place = {examination->shards.shards[entry->shard].name, item};
    if (examination->options->is_joined)
        place.record = entry->first_in_set + (number - entry->first_record);
    return place;
}
