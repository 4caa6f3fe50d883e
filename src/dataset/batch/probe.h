/* Distinguishing a damaged record from other reasons why it cannot be read. */
#ifndef RECMAP_DATASET_BATCH_PROBE_H
#define RECMAP_DATASET_BATCH_PROBE_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Sets `is_damaged` to whether record `number` is CORRUPT although the index can locate it and its
 * shard can be opened. Any other failure is returned: of the index, of the shard as a whole, or one
 * that is not damage, such as NO_MEMORY. `error` is set for a damaged record too. */
recmap_status dataset_probe(bool *is_damaged, recmap_dataset *dataset, uint64_t number,
                            recmap_error *error);

#endif
