/* A cursor over an order: it visits the steps of an epoch, the epoch's end, the steps of the next
 * epoch, and so on without end. A plain value: two cursors with the same start visit the same
 * steps. */
#ifndef RECMAP_LOADER_FEED_EPOCH_CURSOR_H
#define RECMAP_LOADER_FEED_EPOCH_CURSOR_H

#include <stdbool.h>

#include <recmap/order.h>

/* One step of a deal (a batch for every rank), or the end of its epoch. */
struct epoch_step {
    recmap_deal deal;
    uint64_t step;
    uint64_t run_step; /* the same, counted over the epochs of the run */
    bool is_end;
};

struct epoch_cursor {
    recmap_deal deal;               /* of the current epoch */
    const recmap_order *next_order; /* of the following epochs; usually the deal's */
    uint64_t step;                  /* the next step; the epoch's end follows the last one */
    uint64_t run_step;              /* the same, counted over the epochs of the run */
    bool is_over;                   /* the epoch's end was visited */
};

/* Begins a run: its next step is step 0. Errors: INVALID for an epoch or a position out of range;
 * NO_MEMORY. */
recmap_status epoch_cursor_init(struct epoch_cursor *cursor, const recmap_order *order,
                                uint64_t epoch, uint64_t position,
                                const recmap_deal_options *options, recmap_error *error);

/* The epoch of the next step. */
static inline uint64_t epoch_cursor_epoch(const struct epoch_cursor *cursor) {
    return cursor->deal.epoch + cursor->is_over;
}

/* Returns the next step. An error (INVALID: no epoch is left; NO_MEMORY) leaves the cursor
 * unchanged. */
recmap_status epoch_cursor_next(struct epoch_step *step, struct epoch_cursor *cursor,
                                recmap_error *error);

/* The epoch and position from which a run resumes after this step. Errors: NO_MEMORY. */
recmap_status epoch_step_state(uint64_t *epoch, uint64_t *position, const struct epoch_step *step,
                               recmap_error *error);

#endif
