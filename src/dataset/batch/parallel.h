/* Filling a batch with several threads. */
#ifndef RECMAP_DATASET_BATCH_PARALLEL_H
#define RECMAP_DATASET_BATCH_PARALLEL_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* What a batch is filled with. */
struct fill_request {
    const uint64_t *numbers; /* NULL: `count` records from `first` on */
    uint64_t first;
    size_t count;
    const recmap_parser *parser; /* NULL: the records are not parsed */
    recmap_parse_mode mode;
};

/* Fills the batch with several threads and sets `is_done`. With `is_done` false and RECMAP_OK, the
 * caller must fill it on its own thread: either the records are too few for several threads, or
 * something failed. One thread then returns the error of the first bad record, which does not
 * depend on how the records were split.
 *
 * Errors: CANCELLED; those of requests to a remote store. */
recmap_status parallel_fill(bool *is_done, recmap_batch *batch, recmap_dataset *dataset,
                            const struct fill_request *request, recmap_error *error);

#endif
