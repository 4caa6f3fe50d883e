/* What the names of the shards, and the metadata beside them, say about the data set. */
#ifndef RECMAP_DATASET_DOCTOR_NAME_CHECKS_H
#define RECMAP_DATASET_DOCTOR_NAME_CHECKS_H

#include "dataset/doctor/examination.h"

/* Finds shards that are missing, by their names or as files, which are marked. Errors: NO_MEMORY.
 */
recmap_status check_missing_shards(struct examination *examination, recmap_error *error);

/* Finds several sets, unless metadata describes them all: call check_metadata first. Errors:
 * NO_MEMORY. */
recmap_status check_sets(const struct examination *examination, recmap_error *error);

/* Compares the shards with the metadata of TFDS in their folders: the number of shards of each
 * split, the records of each shard and the bytes of the records, as far as they are known. Marks
 * the shards that metadata describes. Errors: NO_MEMORY. */
recmap_status check_metadata(struct examination *examination, recmap_error *error);

#endif
