/* A filler turns one step of a walk into a batch: numbers, records, and what to do about bad ones.
 * Each worker has its own; a filler belongs to one thread at a time. */
#ifndef RECMAP_LOADER_FILLER_H
#define RECMAP_LOADER_FILLER_H

#include <recmap/loader.h>

#include "dataset/fetch.h"
#include "loader/epoch_cursor.h"

/* What became of a step. */
struct filled {
    recmap_batch *batch; /* NULL at the end of an epoch */
    bool is_begun;       /* its records are under way */
    uint64_t epoch;      /* the state once it is taken */
    uint64_t position;
    uint64_t byte_count;
    recmap_skipped *skipped;
    size_t skipped_count;
    size_t skipped_capacity;
};

/* Gives up what it holds but the batch. */
void filled_clear(struct filled *cleared);

struct filler {
    recmap_dataset *dataset;
    uint32_t rank;
    recmap_bad_record policy;
    const recmap_parser *parser; /* NULL: records stay as they are */
    struct fetcher *fetch;       /* NULL: batches are gathered */
    recmap_batch *single;        /* for looking at one record; NULL until one was */
    uint64_t *numbers;
    size_t capacity;
};

void filler_free(struct filler *filler);

/* Begins to fetch the records of the step into `made->batch`, if they can be fetched. */
void filler_begin(struct filled *made, struct filler *filler, const struct epoch_step *at);

/* Fills `made->batch`, which is there, with the records of the step. */
recmap_status filler_fill(struct filled *made, struct filler *filler, const struct epoch_step *at,
                          recmap_error *error);

#endif
