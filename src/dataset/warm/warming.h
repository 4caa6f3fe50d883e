/* Threads that warm a data set. */
#ifndef RECMAP_DATASET_WARM_WARMING_H
#define RECMAP_DATASET_WARM_WARMING_H

#include <stdbool.h>

#include <recmap/warm.h>

struct warming;

struct warming_options {
    recmap_warm_options warm; /* `progress` is not used */
    bool is_background;       /* the threads give way to others */
    bool only_disks;          /* shards that are not on a disk of this machine are left out */
};

/* How it is going. */
struct warming_state {
    recmap_warm_report report;
    uint64_t size; /* what there is to do, at most */
    bool is_over;
    bool left_out; /* a shard was left out */
    recmap_status status;
};

/* Starts the threads. The data set must outlive the warming. Errors: INVALID for options out of
 * range, or for remote shards without a cache; NO_MEMORY. */
recmap_status warming_start(struct warming **warming, recmap_dataset *dataset,
                            const struct warming_options *options, recmap_error *error);

/* Waits until all is done, but at most `timeout_ns`. Returns whether it is. */
bool warming_wait(struct warming *warming, uint64_t timeout_ns);

/* Any thread may call it. */
struct warming_state warming_state(struct warming *warming);

/* The error that ended it, or OK. Called when it is over. */
recmap_status warming_raise(const struct warming *warming, recmap_error *error);

/* Stops the threads and waits for them: each completes one read. NULL may be destroyed. */
void warming_destroy(struct warming *warming);

#endif
