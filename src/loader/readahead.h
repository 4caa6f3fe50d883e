/* Reading ahead: a second walk, some records before the one that fills batches, asks the kernel for
 * what comes.
 *
 * Asking costs something, and is for nothing when the data is in memory already. So records are
 * only sampled at first; as soon as one is missing, or a worker had to wait for one, the loader
 * holds the data for cold and looks at every record, until for some thousands of them none was
 * missing.
 *
 * How far ahead is enough depends on the device and the size of records: the window grows when
 * workers wait for what was asked for, and shrinks slowly when they do not. */
#ifndef RECMAP_LOADER_READAHEAD_H
#define RECMAP_LOADER_READAHEAD_H

#include <recmap/loader.h>

#include "loader/epoch_cursor.h"
#include "os/thread.h"

/* What all workers know together; the loader's lock guards it. */
struct readahead_state {
    recmap_readahead mode;
    bool counts_sleeps; /* without maps there are no faults to count */
    struct epoch_cursor walk;
    uint64_t next_station; /* the walk's, since it began */
    uint64_t station_size; /* records a epoch_step, about */
    uint64_t window;       /* records */
    uint64_t window_least;
    uint64_t window_most;
    bool is_cold;
    bool is_blind;        /* the kernel does not tell what is in memory */
    unsigned surprises;   /* in a row: waits for what was said to be there */
    uint64_t quiet_count; /* records in a row of which none was missing */
    uint64_t calm_count;  /* records in a row that no worker waited for */
    uint64_t warm_count;  /* batches in a row of which no sample was missing */
};

void readahead_init(struct readahead_state *state, const recmap_dataset *dataset,
                    const recmap_order *order, const recmap_loader_options *options,
                    bool is_mapped);

/* Goes elsewhere: what was learned stays. */
void readahead_begin(struct readahead_state *ahead, const struct epoch_cursor *cursor);

/* What one worker is to look at, and what came of it. */
enum { READAHEAD_STATIONS_MAX = 8 };
struct readahead_plan {
    struct epoch_step stations[READAHEAD_STATIONS_MAX];
    uint64_t samples[READAHEAD_STATIONS_MAX]; /* records to look at while not cold */
    unsigned station_count;
    bool is_cold;
    bool is_blind;
    bool is_measured; /* whether the batch is to be filled between two looks at the waits */
    struct thread_waits before; /* the batch was filled */
    uint64_t seen_count;        /* records looked at, or asked for without looking */
    uint64_t asked_count;
};

/* The stations that are to be looked at before `station_number` is filled; the lock is held. */
void readahead_plan_for(struct readahead_plan *plan, struct readahead_state *ahead,
                        uint64_t station_number);

/* Looks and asks, with room for numbers of its own. */
struct readahead_room {
    uint64_t *numbers;
    size_t capacity;
};
void readahead_do(struct readahead_plan *plan, struct readahead_room *room, recmap_dataset *dataset,
                  uint32_t rank);

/* Learn from what the plan came to: as soon as it was carried out, and once a batch of
 * `record_count` was filled. `issued` is the walk of those who fill, at its epoch_step
 * `issued_count`; the lock is held. */
void readahead_learn_missing(struct readahead_state *ahead, const struct readahead_plan *plan,
                             const struct epoch_cursor *cursor, uint64_t issued_count);
void readahead_learn_waits(struct readahead_state *ahead, const struct readahead_plan *plan,
                           const struct thread_waits *after, uint64_t record_count,
                           const struct epoch_cursor *cursor, uint64_t issued_count);

#endif
