/* Fetching: the records of batches come past the page cache into memory of the batches, many reads
 * at a time, while the thread goes on. A fetcher belongs to one thread.
 *
 * It has no errors of its own: what cannot be fetched is gathered, which works or says why not. */
#ifndef RECMAP_DATASET_FETCH_H
#define RECMAP_DATASET_FETCH_H

#include <stdbool.h>

#include <recmap/dataset.h>

struct fetcher;

/* Whether the data set is to be read so, and the kernel and the file system have what it takes.
 * Opens a shard. */
bool fetch_is_possible(recmap_dataset *dataset);

/* One that has up to `depth` reads under way. NULL where that is not possible. */
struct fetcher *fetcher_create(recmap_dataset *dataset, unsigned depth);

/* Every batch that was begun must be finished. */
void fetcher_destroy(struct fetcher *fetcher);

/* Begins to fetch records into a batch; it is finished before it is used for anything else. False:
 * nothing is under way, and there is nothing to finish. */
bool fetcher_begin(struct fetcher *fetcher, recmap_batch *batch, const uint64_t *numbers,
                   size_t count);

/* Whether, while the batch is finished, there are too few reads behind it to keep the device
 * busy. */
bool fetcher_wants_more(const struct fetcher *fetcher, const recmap_batch *batch);

/* Waits until the batch has its records, in the order asked. Of several that were begun the first
 * comes first. False: it is empty, and to be gathered. */
bool fetcher_finish(struct fetcher *fetcher, recmap_batch *batch);

/* Reads nothing more that is not under way: what was begun is finished sooner, and empty. */
void fetcher_stop(struct fetcher *fetcher);

#endif
