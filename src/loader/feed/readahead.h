/* Reading ahead: a second cursor runs some records ahead of the one that fills batches and asks the
 * kernel to load what will be needed (madvise, posix_fadvise).
 *
 * Asking has a cost, which is wasted if the data is in memory already. So the loader switches
 * between three states:
 *
 *     warm    records are only sampled
 *       |  a sampled record is missing, or a worker waited for a record
 *       v
 *     cold    every record ahead is checked, and asked for if it is missing
 *       |  thousands of records in a row were present --> warm
 *       |  workers waited several times although no record was missing
 *       v
 *     blind   the kernel does not report residency: every record is asked for without checking
 *       |  thousands of records in a row were asked for --> warm; any wait leads back to blind
 *
 * How far ahead to ask depends on the device and on the size of records: the window grows when
 * workers wait for records that were asked for, and shrinks slowly when they do not. */
#ifndef RECMAP_LOADER_FEED_READAHEAD_H
#define RECMAP_LOADER_FEED_READAHEAD_H

#include <recmap/loader.h>

#include "base/os/thread.h"
#include "loader/feed/epoch_cursor.h"
#include "order/kinds/step_records.h"

/* The state that all workers share; guarded by the loader's lock. */
struct readahead_state {
    recmap_readahead mode;
    bool counts_sleeps; /* count sleeps instead of page faults, because nothing is mapped */
    struct epoch_cursor cursor;
    uint64_t next_step; /* number of the cursor's next step, counted like the loader's `issued` */
    uint64_t step_size; /* approximate number of records in a step */
    uint64_t window;    /* records */
    uint64_t window_min;
    uint64_t window_max;
    bool is_cold;
    bool is_blind;
    unsigned surprises;   /* consecutive waits for records that were reported present */
    uint64_t quiet_count; /* consecutive records of which none was missing */
    uint64_t calm_count;  /* consecutive records that no worker waited for */
    uint64_t warm_count;  /* consecutive batches of which no sample was missing */
    uint64_t epoch_limit; /* no step of this epoch or of a later one is planned */
};

void readahead_init(struct readahead_state *readahead, const recmap_dataset *dataset,
                    const recmap_order *order, const recmap_loader_options *options,
                    bool is_mapped);

/* Continues from another position; keeps what was learned. */
void readahead_restart(struct readahead_state *readahead, const struct epoch_cursor *cursor);

enum { READAHEAD_STEPS_MAX = 8 };

/* What one worker has to check, and the result. */
struct readahead_plan {
    struct epoch_step steps[READAHEAD_STEPS_MAX];
    uint64_t samples[READAHEAD_STEPS_MAX]; /* records to check in each step while warm */
    unsigned step_count;
    bool is_cold;
    bool is_blind;
    bool is_measured; /* whether to read the thread's wait counters around filling the batch */
    struct thread_waits before; /* the counters before the batch was filled */
    uint64_t seen_count;        /* records checked, or asked for without checking */
    uint64_t asked_count;
};

/* Plans which steps to check before step `step_number` is filled. The caller holds the lock. */
void readahead_plan_for(struct readahead_plan *plan, struct readahead_state *readahead,
                        uint64_t step_number);

/* Carries out the plan; called without the lock. `list` is scratch memory of the worker. */
void readahead_do(struct readahead_plan *plan, struct step_records *list, recmap_dataset *dataset,
                  uint32_t rank);

/* Both learn from a plan's result: the first right after the plan was carried out, the second after
 * a batch of `record_count` records was filled. `cursor` is the one that fills batches, at step
 * `issued_count`. The caller holds the lock. */
void readahead_learn_missing(struct readahead_state *readahead, const struct readahead_plan *plan,
                             const struct epoch_cursor *cursor, uint64_t issued_count);
void readahead_learn_waits(struct readahead_state *readahead, const struct readahead_plan *plan,
                           const struct thread_waits *after, uint64_t record_count,
                           const struct epoch_cursor *cursor, uint64_t issued_count);

#endif
