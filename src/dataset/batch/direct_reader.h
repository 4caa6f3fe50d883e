/* A direct reader reads the records of batches with io_uring, past the page cache, into the
 * batches' own memory. Many reads are in flight while the thread continues. One thread uses a
 * reader.
 *
 * A direct reader reports no errors: a batch that it cannot read is gathered instead, which either
 * succeeds or returns the error. */
#ifndef RECMAP_DATASET_BATCH_DIRECT_READER_H
#define RECMAP_DATASET_BATCH_DIRECT_READER_H

#include <stdbool.h>

#include <recmap/dataset.h>

struct direct_reader;

/* Creates a reader with up to `depth` reads in flight. Returns NULL if that is not possible. */
struct direct_reader *direct_reader_create(recmap_dataset *dataset, unsigned depth);

/* Every batch that was started must have been finished. */
void direct_reader_destroy(struct direct_reader *reader);

/* Starts reading records into a batch. The batch must be finished before any other use. Returns
 * false if nothing was started; then there is nothing to finish. */
bool direct_reader_start(struct direct_reader *reader, recmap_batch *batch, const uint64_t *numbers,
                         size_t count);

/* Returns true if the reads started after this batch's are too few to keep the device busy until
 * the batch is finished. */
bool direct_reader_wants_more(const struct direct_reader *reader, const recmap_batch *batch);

/* Waits until the batch has its records, in the order of `numbers`. Batches must be finished in the
 * order in which they were started. Returns false if the batch is empty and must be gathered. */
bool direct_reader_finish(struct direct_reader *reader, recmap_batch *batch);

/* Cancels all reads that were not submitted. Batches that were started must still be finished; for
 * those that lost reads, direct_reader_finish returns false. */
void direct_reader_stop(struct direct_reader *reader);

#endif
