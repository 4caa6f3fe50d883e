/* Gathering on the calling thread. */
#ifndef RECMAP_DATASET_GATHER_H
#define RECMAP_DATASET_GATHER_H

#include <recmap/dataset.h>
#include <recmap/rows.h>

/* As recmap_dataset_gather, but on the calling thread alone, even if the batch is set to use
 * several threads. */
recmap_status dataset_gather_here(recmap_batch *batch, recmap_dataset *dataset,
                                  const uint64_t *numbers, size_t count, recmap_error *error);

/* Gathers the records of the pieces, each once, by ascending number. slots[i] is the index in the
 * batch of the record of piece i. A long record that was verified before is not checked again. */
recmap_status dataset_gather_distinct(size_t *slots, recmap_batch *batch, recmap_dataset *dataset,
                                      const recmap_piece *pieces, size_t count,
                                      recmap_error *error);

#endif
