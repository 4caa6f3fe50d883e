/* What the index says about the data set. No record is read, unless a comment says so. */
#ifndef RECMAP_DATASET_DOCTOR_INDEX_CHECKS_H
#define RECMAP_DATASET_DOCTOR_INDEX_CHECKS_H

#include "dataset/doctor/examination.h"

/* Lists the damage that the index lists. Errors: CORRUPT (the index), NO_MEMORY. */
recmap_status check_damage(const struct examination *examination, recmap_error *error);

/* Finds that there is nothing to examine. Errors: NO_MEMORY. */
recmap_status check_no_records(const struct examination *examination, recmap_error *error);

/* Finds shards that are much larger or smaller than the others of their set. Errors: NO_MEMORY. */
recmap_status check_shard_sizes(const struct examination *examination, recmap_error *error);

/* Finds compressed shards in which a record is found slowly. Errors: CORRUPT (the index),
 * NO_MEMORY. */
recmap_status check_seek_points(const struct examination *examination, recmap_error *error);

/* Finds ids that repeat as labels do, by a part of the index. Errors: CORRUPT (the index),
 * NO_MEMORY. */
recmap_status check_id_share(const struct examination *examination, recmap_error *error);

/* Finds records without an id or with the id of another one; reads those whose ids have equal
 * hashes. Errors: also CANCELLED. */
recmap_status check_ids(const struct examination *examination, recmap_error *error);

/* Finds records that are much larger than the rest, and reads the largest of them. Errors: also
 * CANCELLED. */
recmap_status check_record_sizes(const struct examination *examination, recmap_error *error);

#endif
