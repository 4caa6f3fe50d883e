/* Filling a batch with several threads. */
#ifndef RECMAP_DATASET_PARALLEL_H
#define RECMAP_DATASET_PARALLEL_H

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

/* The threads to use for a call: by the batch's setting, at most one per record. */
unsigned parallel_thread_count(const recmap_batch *batch, const recmap_dataset *dataset,
                               size_t count);

/* Fills the batch with `thread_count` threads. Returns false with the batch empty if anything
 * fails. The caller then fills it on its own thread: that gives the error that belongs to the first
 * bad record, however the records were split. */
bool parallel_fill(recmap_batch *batch, recmap_dataset *dataset, const struct fill_request *request,
                   unsigned thread_count);

#endif
