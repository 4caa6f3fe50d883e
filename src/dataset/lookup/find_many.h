/* What finding many ids and matching two data sets have in common. */
#ifndef RECMAP_DATASET_LOOKUP_FIND_MANY_H
#define RECMAP_DATASET_LOOKUP_FIND_MANY_H

#include "dataset/lookup/id_lookup.h"

/* INVALID unless the data set, or each part of a concatenation, can find an id of this type. */
recmap_status dataset_check_can_find_many(const recmap_dataset *dataset, const recmap_value *id,
                                          recmap_error *error);

/* Sets positions[i] to the lowest position of a record whose id is ids[i], or to -1. `lookup` has
 * the position function; its memory is kept for the next group. The data set may be a
 * concatenation. Errors: as id_lookup_run. */
recmap_status id_lookup_find(int64_t *positions, struct id_lookup *lookup, recmap_dataset *dataset,
                             const recmap_value *ids, size_t count, recmap_error *error);

#endif
