/* Gathering on the calling thread. */
#ifndef RECMAP_DATASET_GATHER_H
#define RECMAP_DATASET_GATHER_H

#include <recmap/dataset.h>

/* As recmap_dataset_gather, but on the calling thread alone, even if the batch is set to use
 * several threads. */
recmap_status dataset_gather_here(recmap_batch *batch, recmap_dataset *dataset,
                                  const uint64_t *numbers, size_t count, recmap_error *error);

#endif
