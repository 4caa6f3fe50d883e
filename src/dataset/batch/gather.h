/* Gathering on the calling thread. */
#ifndef RECMAP_DATASET_BATCH_GATHER_H
#define RECMAP_DATASET_BATCH_GATHER_H

#include <recmap/dataset.h>
#include <recmap/rows.h>

#include "dataset/batch/batch.h"
#include "dataset/batch/parallel.h"
#include "dataset/batch/ranges.h"

/* As recmap_dataset_gather, but on the calling thread alone, even if the batch is set to use
 * several threads. */
recmap_status dataset_gather_here(recmap_batch *batch, recmap_dataset *dataset,
                                  const uint64_t *numbers, size_t count, recmap_error *error);

/* Requests the records of distant shards from their store, into memory of the batch, which must be
 * empty: ranges are merged as for one thread, and all are in flight together. Records that are in
 * the disk cache, or whose shards are compressed, are left out. The caller passes `fetched` to the
 * parts of the batch, and calls overlap_deinit, also after an error.
 *
 * Only errors of the requests are returned, and CANCELLED. With any other, `fetched` is empty:
 * gathering finds the first bad record. */
recmap_status dataset_fetch(struct overlap *fetched, recmap_batch *batch, recmap_dataset *dataset,
                            const struct fill_request *request, recmap_error *error);

/* Clears the batch, and requests the records of the pieces for it, each once, by ascending number.
 * slots[i] is the index in the batch of the record of piece i. Sets the number of records. */
recmap_status dataset_request_records(size_t *slots, size_t *record_count, recmap_batch *batch,
                                      const recmap_dataset *dataset, const recmap_piece *pieces,
                                      size_t count, recmap_error *error);

/* Gathers the requested records. A record that is long or cut and was verified before is not
 * checked again. Bytes of a record that is still partial afterwards are undefined outside its
 * ranges. */
recmap_status dataset_gather_requested(recmap_batch *batch, recmap_dataset *dataset,
                                       struct gather_parts *parts, size_t record_count,
                                       recmap_error *error);

#endif
