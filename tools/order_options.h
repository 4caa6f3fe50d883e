/* The ORDER options: which records of an epoch come, in which order, and whose share of them. */
#ifndef RECMAP_ORDER_OPTIONS_H
#define RECMAP_ORDER_OPTIONS_H

#include <recmap/order.h>

#include "args.h"

struct order_options {
    unsigned given; /* a bit for each option that was */
    uint64_t seed;
    uint64_t epoch;
    uint64_t from;  /* a position of the epoch, of all ranks together */
    uint64_t count; /* most records of this rank */
    uint64_t rank;
    uint64_t world_size;
    uint64_t batch_size;
    recmap_last last;
};

/* Values from here on are not for other options. */
enum { ORDER_OPTIONS_FIRST = 512 };

/* The defaults; `args` takes these options besides its own from now on. */
void order_options_init(struct order_options *options, struct args *args);

/* Takes one of them, as args_next gave it. Returns 0, or the exit status after saying what is
 * wrong. */
int order_options_set(struct order_options *options, const struct args *args, int option);

/* Whether all that was given goes together. Returns the same. */
int order_options_check(const struct order_options *options, const struct args *args);

bool order_options_is_shuffled(const struct order_options *options);
bool order_options_has_ranks(const struct order_options *options);
/* Whether less than the whole epoch was asked for, or could have been. */
bool order_options_has_part(const struct order_options *options);

/* The order that they name, of `record_count` records, to be released. */
recmap_status order_options_create_order(recmap_order **order, const struct order_options *options,
                                         uint64_t record_count, recmap_error *error);

#endif
