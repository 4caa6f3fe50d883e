/* The inside of a loader: workers walk ahead of the caller and put what they filled into a ring of
 * slots, one a epoch_step of the walk; the caller takes them strictly in order.
 *
 *   issued   stations that workers have taken on
 *   taken    stations that the caller has taken; issued - taken never exceeds the slots
 *
 * Going elsewhere (seek, load, trying again after an error) begins a new generation: whatever is
 * still being filled for an older one is thrown away when it comes in. */
#ifndef RECMAP_LOADER_LOADER_H
#define RECMAP_LOADER_LOADER_H

#include <stdatomic.h>

#include <recmap/loader.h>

#include "loader/epoch_cursor.h"
#include "loader/filler.h"
#include "loader/readahead.h"
#include "os/thread.h"

/* What a epoch_step came to, until it is taken. */
struct loader_slot {
    bool is_ready;
    recmap_status status;
    recmap_error *error; /* of one that failed; NULL: there was no memory for it either */
    struct filled result;
};

struct recmap_loader {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_text order_text; /* its description */
    recmap_loader_options options;
    recmap_deal_options deal;
    unsigned fetch_depth; /* records that each worker has under way; 0: none are fetched */
    atomic_long owner;    /* the process that the workers are in; 0 before there are any */
    struct worker_group workers;

    /* The caller's alone. */
    uint64_t epoch;
    uint64_t position;
    bool must_begin_anew;   /* an error was raised */
    recmap_batch *returned; /* a batch that was given back */

    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed_work;
    pthread_cond_t changed_results;
    bool is_closing;
    bool is_stuck; /* no epoch_step could be had; its slot has the error */
    uint64_t generation;
    struct epoch_cursor walk; /* of the next epoch_step to be issued */
    struct readahead_state readahead;
    uint64_t issued;
    uint64_t taken;
    struct loader_slot *slots; /* epoch_step modulo slot_count */
    size_t slot_count;
    bool is_awaited;           /* the caller sleeps until its slot is ready */
    uint64_t awaited_since_ns; /* then: since when */
    recmap_batch **spares;     /* whose memory is to be used again */
    size_t spare_count;
    size_t spare_capacity;
    recmap_loader_statistics statistics;
    recmap_skipped *skipped;
    size_t skipped_count;
    size_t skipped_capacity;
};

/* INVALID in a child of the process that the workers are in. Comes before any lock is taken. */
recmap_status loader_check_process(const recmap_loader *loader, recmap_error *error);

/* What every worker runs; `context` is the loader. */
void *loader_work(void *context);

/* Keeps an empty batch for later; the lock is held. NULL is none. */
void loader_add_spare(recmap_loader *loader, recmap_batch *batch);

/* Empties a slot; the lock is held. */
void loader_clear_slot(recmap_loader *loader, struct loader_slot *slot);

/* Puts the loader at a place. After an error it is where it was. */
recmap_status loader_go_to(recmap_loader *loader, uint64_t epoch, uint64_t position,
                           recmap_error *error);

#endif
