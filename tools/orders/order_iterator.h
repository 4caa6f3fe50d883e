/* Iterates over the record numbers that order options select. */
#ifndef RECMAP_TOOLS_ORDERS_ORDER_ITERATOR_H
#define RECMAP_TOOLS_ORDERS_ORDER_ITERATOR_H

#include "orders/order_options.h"
#include "output/output.h"

struct order_iterator {
    recmap_order *order;
    recmap_deal deal;
    uint32_t rank;
    uint64_t step;      /* the next step */
    recmap_share share; /* the rest of the current step */
    uint64_t left;      /* numbers not yet returned */
};

/* Retains the order, whose seed is in it already. Returns 0, or the exit status after printing the
 * error. */
int order_iterator_init(struct order_iterator *iterator, recmap_order *order,
                        const struct order_options *options, const struct args *args);
void order_iterator_deinit(struct order_iterator *iterator);

/* Returns the next `count` numbers, at most iterator->left. A number_source_next_fn. */
recmap_status order_iterator_next(void *iterator, uint64_t *numbers, size_t count,
                                  recmap_error *error);

/* The same for positions in the epoch. */
recmap_status order_iterator_next_positions(struct order_iterator *iterator, uint64_t *positions,
                                            size_t count, recmap_error *error);

/* Writes all numbers to an output of format OUTPUT_NUMBER. No shard is read. */
recmap_status order_iterator_print(struct order_iterator *iterator, struct output *output,
                                   recmap_error *error);

#endif
