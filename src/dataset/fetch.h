/* Fetching reads the records of a batch with io_uring, past the page cache, into the batch's own
 * memory. Many reads are in flight while the thread continues. One thread uses a fetcher.
 *
 * A fetcher reports no errors: a batch that cannot be fetched is gathered instead, which either
 * succeeds or returns the error. */
#ifndef RECMAP_DATASET_FETCH_H
#define RECMAP_DATASET_FETCH_H

#include <stdbool.h>

#include <recmap/dataset.h>

struct fetcher;

/* Whether the data set was opened with RECMAP_ACCESS_DIRECT and both the kernel and the file system
 * support it. Opens one shard to find out. */
bool fetch_is_possible(recmap_dataset *dataset);

/* Creates a fetcher with up to `depth` reads in flight. Returns NULL if that is not possible. */
struct fetcher *fetcher_create(recmap_dataset *dataset, unsigned depth);

/* Every batch that was started must have been finished. */
void fetcher_destroy(struct fetcher *fetcher);

/* Starts fetching records into a batch. The batch must be finished before any other use. Returns
 * false if nothing was started; then there is nothing to finish. */
bool fetcher_start(struct fetcher *fetcher, recmap_batch *batch, const uint64_t *numbers,
                   size_t count);

/* Whether the started reads after those of this batch are too few to keep the device busy until the
 * batch is finished. */
bool fetcher_wants_more(const struct fetcher *fetcher, const recmap_batch *batch);

/* Waits until the batch has its records, in the order of `numbers`. Batches must be finished in the
 * order in which they were started. Returns false if the batch is empty and must be gathered. */
bool fetcher_finish(struct fetcher *fetcher, recmap_batch *batch);

/* Cancels all reads that were not submitted. Batches that were started must still be finished; for
 * those that lost reads, fetcher_finish returns false. */
void fetcher_stop(struct fetcher *fetcher);

#endif
