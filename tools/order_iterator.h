/* The record numbers that ORDER options ask for, from the first to the last. */
#ifndef RECMAP_ORDER_ITERATOR_H
#define RECMAP_ORDER_ITERATOR_H

#include "order_options.h"
#include "output.h"

struct order_iterator {
    recmap_order *order;
    recmap_deal deal;
    uint32_t rank;
    uint64_t step;      /* the next one */
    recmap_share share; /* what is left of the one before it */
    uint64_t left;      /* numbers to come */
};

/* Returns 0, or the exit status after saying what is wrong. */
int order_iterator_init(struct order_iterator *iterator, const struct order_options *options,
                        uint64_t record_count, const struct args *args);
void order_iterator_deinit(struct order_iterator *iterator);

/* The next `count` numbers, at most iterator->left. A number_source_next_fn over an struct
 * order_iterator. */
recmap_status order_iterator_next(void *iterator, uint64_t *numbers, size_t count,
                                  recmap_error *error);

/* Writes all numbers to an output of that format. No data is read. */
recmap_status order_iterator_print(struct order_iterator *iterator, struct output *output,
                                   recmap_error *error);

#endif
