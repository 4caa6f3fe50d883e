/* What an order has worked out about an epoch, kept for the next call.
 *
 * Whoever needs it takes it out and puts it back: while one thread has it, another finds nothing
 * and works it out anew. So nothing is ever waited for, in a child after a fork neither. */
#ifndef RECMAP_ORDER_EPOCH_CACHE_H
#define RECMAP_ORDER_EPOCH_CACHE_H

#include <stdatomic.h>
#include <stdint.h>

/* A cached thing begins with its epoch and is one piece of memory (malloc). */
struct epoch_state {
    uint64_t epoch;
};

/* Even and odd epochs have a place each: a reader that looks ahead is in two. */
struct epoch_cache {
    _Atomic(struct epoch_state *) places[2];
};

/* The state of this epoch, or NULL. The caller owns it. */
struct epoch_state *epoch_cache_take(struct epoch_cache *cache, uint64_t epoch);

/* Gives it over. */
void epoch_cache_put(struct epoch_cache *cache, struct epoch_state *state);

void epoch_cache_free(struct epoch_cache *cache);

#endif
