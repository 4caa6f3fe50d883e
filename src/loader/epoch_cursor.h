/* A walk over an order: the steps of an epoch, its end, the steps of the next, for ever. A plain
 * value; two walks that begin alike go alike. */
#ifndef RECMAP_LOADER_EPOCH_CURSOR_H
#define RECMAP_LOADER_EPOCH_CURSOR_H

#include <stdbool.h>

#include <recmap/order.h>

/* One epoch_step: a step of a deal, or the end of its epoch. */
struct epoch_step {
    recmap_deal deal;
    uint64_t step;
    bool is_end;
};

struct epoch_cursor {
    recmap_deal deal; /* of the epoch at hand */
    uint64_t step;    /* the next one; behind the last comes the end */
    bool is_over;     /* the end was passed */
};

/* Errors: INVALID for an epoch or a position out of range; NO_MEMORY. */
recmap_status epoch_cursor_init(struct epoch_cursor *cursor, const recmap_order *order,
                                uint64_t epoch, uint64_t position,
                                const recmap_deal_options *options, recmap_error *error);

/* The next epoch_step. After an error (INVALID: no epoch is left; NO_MEMORY) the walk is as it was.
 */
recmap_status epoch_cursor_next(struct epoch_step *at, struct epoch_cursor *cursor,
                                recmap_error *error);

/* The state behind a epoch_step. Errors: NO_MEMORY. */
recmap_status epoch_step_state(uint64_t *epoch, uint64_t *position, const struct epoch_step *at,
                               recmap_error *error);

#endif
