/* A step that a worker has taken, until its result is in the slot. */
#ifndef RECMAP_LOADER_FEED_JOB_H
#define RECMAP_LOADER_FEED_JOB_H

#include "loader/feed/epoch_cursor.h"
#include "loader/feed/filler.h"
#include "loader/feed/readahead.h"

struct job {
    struct epoch_step step;
    uint64_t number; /* of the step, since the start of the generation */
    uint64_t generation;
    uint64_t started_ns;
    recmap_status status;
    recmap_error error;
    struct filled_batch result;
    struct readahead_plan plan;
    struct thread_waits after;
    bool prepares_next; /* the order's next epoch is to be prepared after this job */
};

#endif
