/* A concatenation: a data set that consists of other ones, its parts. It has a table of all shards,
 * and finds records and shards through the parts, which read them. */
#ifndef RECMAP_DATASET_OPEN_CONCAT_H
#define RECMAP_DATASET_OPEN_CONCAT_H

#include "dataset/open/dataset.h"

/* A data set that is not a concatenation, and what precedes it. */
struct dataset_part {
    recmap_dataset *dataset;
    uint64_t first_record;
    uint64_t first_shard;
    uint64_t first_damage;
    size_t *columns; /* for each lifted column of the concatenation, the part's column */
};

/* The part that contains a record, a shard or an entry of damage. */
const struct dataset_part *concat_part_of_record(const recmap_dataset *dataset, uint64_t number);
const struct dataset_part *concat_part_of_shard(const recmap_dataset *dataset,
                                                uint64_t shard_index);
const struct dataset_part *concat_part_of_damage(const recmap_dataset *dataset,
                                                 uint64_t damage_index);

/* The end of a part's records. */
uint64_t concat_part_end(const struct dataset_part *part);

/* The type that a column of a part has, or NONE if it has no values there and fits any type. */
recmap_type concat_part_type(const struct dataset_part *part, const recmap_lifted_column *column);

/* How many features all parts count, in the same way. */
size_t concat_counted_feature_count(const recmap_dataset *dataset);

/* Frees the table of parts. The parts themselves are borrowed. */
void concat_deinit(recmap_dataset *dataset);

/* Returns true if this fingerprint and number of records identify the data set, its first shards,
 * or the first parts of a concatenation, of the last of which the first shards. */
bool dataset_begins_with(const recmap_dataset *dataset, const recmap_fingerprint *fingerprint,
                         uint64_t record_count);

#endif
