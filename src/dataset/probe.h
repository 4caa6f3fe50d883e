/* Telling a damaged record from everything else that can go wrong with one. */
#ifndef RECMAP_DATASET_PROBE_H
#define RECMAP_DATASET_PROBE_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Whether the record `number`, and it alone, is damaged. What is wrong with the index, or with a
 * shard as a whole (one that does not inflate), is an error here, as all else is that
 * recmap_dataset_get fails with. `error` is set for a damaged record too. */
recmap_status dataset_probe(bool *is_damaged, recmap_dataset *dataset, uint64_t number,
                            recmap_error *error);

#endif
