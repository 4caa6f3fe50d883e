/* The options of cat and order that select an order, a part of its epoch, and a rank's share. */
#ifndef RECMAP_TOOLS_ORDERS_ORDER_OPTIONS_H
#define RECMAP_TOOLS_ORDERS_ORDER_OPTIONS_H

#include <recmap/order.h>

#include "terminal/args.h"

struct order_options {
    unsigned given; /* a bit for each option that was given */
    uint64_t seed;
    uint64_t epoch;
    uint64_t from;  /* position of all ranks together */
    uint64_t count; /* maximum number of records of this rank */
    uint64_t rank;
    uint64_t world_size;
    uint64_t batch_size;
    recmap_last last;
    uint64_t step; /* of a run that begins at `from` of `epoch` */
};

/* Sets the defaults. */
void order_options_init(struct order_options *options);

/* Sets one of the options, as returned by args_next. Returns 0, or the exit status after printing
 * the error. */
int order_options_set(struct order_options *options, const struct args *args, int option);

/* Checks that the given options can be combined. With `has_rows` they are for a row order, which is
 * always shuffled. Returns 0, or the exit status after printing the error. */
int order_options_check(const struct order_options *options, bool has_rows,
                        const struct args *args);

bool order_options_is_shuffled(const struct order_options *options);
bool order_options_has_ranks(const struct order_options *options);
bool order_options_has_step(const struct order_options *options);
/* Returns true if an option was given that says which order, or where a run begins. */
bool order_options_has_start(const struct order_options *options);
/* Returns true if an option was given that selects a part of the epoch. */
bool order_options_has_part(const struct order_options *options);

/* Creates the selected order of `record_count` records. The caller releases it. */
recmap_status order_options_create_order(recmap_order **order, const struct order_options *options,
                                         uint64_t record_count, recmap_error *error);

#endif
