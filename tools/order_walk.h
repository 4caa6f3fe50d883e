/* The record numbers that ORDER options ask for, from the first to the last. */
#ifndef RECMAP_ORDER_WALK_H
#define RECMAP_ORDER_WALK_H

#include "order_options.h"
#include "output.h"

typedef struct order_walk {
    recmap_order *order;
    recmap_deal deal;
    uint32_t rank;
    uint64_t step;      /* the next one */
    recmap_share share; /* what is left of the one before it */
    uint64_t left;      /* numbers to come */
} order_walk;

/* Returns 0, or the exit status after saying what is wrong. */
int order_walk_begin(order_walk *walk, const order_options *options, uint64_t record_count,
                     const tool_args *args);
void order_walk_end(order_walk *walk);

/* The next `count` numbers, at most walk->left. A walk_next_fn over an order_walk. */
recmap_status order_walk_next(void *walk, uint64_t *numbers, size_t count, recmap_error *error);

/* Writes all numbers to an output of that format. No data is read. */
recmap_status order_walk_print(order_walk *walk, tool_output *output, recmap_error *error);

#endif
