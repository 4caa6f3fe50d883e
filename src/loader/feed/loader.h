/* The internals of a loader: workers run ahead of the caller and put filled batches into a ring of
 * slots, one slot for each step of the epoch; the caller takes them strictly in order.
 *
 *   issued   steps that workers have started
 *   taken    steps that the caller has taken; issued - taken never exceeds the number of slots
 *
 * Moving to another position (seek, load, retrying after an error) starts a new generation. A batch
 * that was being filled for an older generation is discarded when it is ready.
 *
 * A batch of pictures is filled by several workers (job_parts.h): the one that took the step
 * gathers its records and opens the job; then it and all other workers decode a part of the
 * earliest open job before they start another step. The worker that ends the last part assembles
 * the batch.
 *
 * Pixels take much more memory than records. So records are gathered for as many steps as there are
 * slots, but only a few of the steps after `taken` have pixels at a time: see decoded_ahead_max. A
 * job that has none yet waits, and spare batches have none: their columns are kept separately. */
#ifndef RECMAP_LOADER_FEED_LOADER_H
#define RECMAP_LOADER_FEED_LOADER_H

#include <stdatomic.h>

#include <recmap/loader.h>

#include "base/os/activity.h"
#include "base/os/thread.h"
#include "loader/feed/epoch_cursor.h"
#include "loader/feed/filler.h"
#include "loader/feed/readahead.h"
#include "loader/feed/warm_ahead.h"

/* The result of a step, until the caller takes it. */
struct loader_slot {
    bool is_ready;
    recmap_status status;
    recmap_error *error; /* why the step failed; NULL if there was no memory to store it */
    struct filled_batch result;
};

/* The records with which the data set began before it grew. The epochs up to `last_epoch` are over
 * them. */
struct old_records {
    recmap_order *order; /* NULL: there are none */
    recmap_text order_text;
    recmap_fingerprint fingerprint;
    uint64_t count;
    uint64_t last_epoch;
};

struct recmap_loader {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_text order_text; /* its description */
    struct old_records old;
    recmap_order **retired; /* old orders that workers may still use */
    size_t retired_count;
    size_t retired_capacity;
    recmap_loader_options options;
    recmap_deal_options deal;
    unsigned direct_depth; /* reads that each worker keeps in flight; 0: records are gathered */
    atomic_long owner;     /* the process that started the workers; 0 before that */
    struct worker_group workers;
    struct warm_ahead warm;

    /* Used by the calling thread only. */
    uint64_t epoch;
    uint64_t position;
    uint64_t run_epoch; /* where the present run began */
    uint64_t run_position;
    bool must_restart;      /* an error was returned: start again from epoch and position */
    recmap_batch *returned; /* the batch that the caller gave back, to be used again */

    pthread_mutex_t lock;           /* guards everything below */
    pthread_cond_t changed_work;    /* workers wait for it: a slot is free, or the loader closes */
    pthread_cond_t changed_results; /* the caller waits for it: its slot is ready */
    atomic_bool is_closing;         /* also read without the lock, while a batch is filled */
    bool is_stuck; /* the next step could not be determined; its slot has the error */
    uint64_t generation;
    struct epoch_cursor cursor; /* at the next step to issue */
    uint64_t prepared_epoch;    /* of a row order, the last one prepared ahead of time; 0: none */
    struct readahead_state readahead;
    uint64_t issued; /* in this generation, as `taken` */
    uint64_t taken;
    uint64_t wanted; /* steps that the caller took or waits for: past the limit of epochs, only
                        these are issued */
    struct loader_slot *slots; /* step n of the generation is in slot n % slot_count */
    size_t slot_count;
    bool is_awaited;           /* the caller sleeps until its slot is ready */
    uint64_t awaited_since_ns; /* when it began to sleep */
    struct job_parts *open;    /* jobs of which parts are not taken yet, the earliest step first */
    uint64_t pixels_size_max;  /* of a batch so far, in bytes */
    recmap_batch **spares;     /* empty batches whose memory is used again */
    size_t spare_count;
    size_t spare_capacity;
    recmap_columns **spare_columns; /* with memory for pixels, which is used again; the one that was
                                       returned last is last */
    size_t spare_columns_count;
    recmap_loader_statistics statistics;
    recmap_skipped *skipped;
    size_t skipped_count;
    size_t skipped_capacity;

    /* What each worker does. They have their own locks. */
    struct activity *activities;
    atomic_uint activity_count; /* workers that were started; they never exceed the threads */
};

/* Fails with INVALID in a forked child of the process that runs the workers. Must be called before
 * taking any lock: in the child, a lock may be held by a thread that does not exist there. */
recmap_status loader_check_process(const recmap_loader *loader, recmap_error *error);

/* The main function of a worker thread; `context` is the loader. */
void *loader_work(void *context);

/* Keeps an empty batch for later use; NULL is ignored. The caller holds the lock. */
void loader_add_spare(recmap_loader *loader, recmap_batch *batch);

/* How many batches of pictures may have memory for pixels ahead of the caller: as many as have
 * PIXELS_AHEAD bytes, if all are as large as the largest one so far. At least two, so that workers
 * can start the next batch while the last parts of one are decoded. The caller holds the lock. */
enum { PIXELS_AHEAD = 64 << 20, DECODED_AHEAD_MIN = 2 };
uint64_t loader_decoded_ahead_max(const recmap_loader *loader);

/* Removes columns from the spare ones. Returns NULL if there are none. The caller holds the lock.
 */
recmap_columns *loader_take_spare_columns(recmap_loader *loader);

/* Returns true if the loader decodes pictures. */
bool loader_has_pictures(const recmap_loader *loader);

/* Discards the jobs that workers have left open. No worker is running. */
void loader_discard_open(recmap_loader *loader);

/* Adds the pictures of a step to the statistics. The caller holds the lock. */
void loader_count_images(recmap_loader *loader, const struct image_counts *images);

/* Empties a slot. The caller holds the lock. */
void loader_clear_slot(recmap_loader *loader, struct loader_slot *slot);

/* Checks that the order can be read from the data set. Errors: INVALID. */
recmap_status loader_check_order(const recmap_dataset *dataset, const recmap_order *order,
                                 const recmap_parser *parser, recmap_error *error);

/* The order of an epoch. */
const recmap_order *loader_order_of(const recmap_loader *loader, uint64_t epoch);

/* Begins a run at a position. An error leaves the loader where it was. */
recmap_status loader_begin_run(recmap_loader *loader, uint64_t epoch, uint64_t position,
                               recmap_error *error);

/* Moves the loader to a position of the present run. An error leaves it where it was. */
recmap_status loader_go_to(recmap_loader *loader, uint64_t epoch, uint64_t position,
                           recmap_error *error);

#endif
