/* What an order has worked out about an epoch, kept for the next call.
 *
 * Whoever needs it takes it out and puts it back: while one thread has it, another finds nothing
 * and works it out anew. So nothing is ever waited for, in a child after a fork neither. */
#ifndef RECMAP_ORDER_EPOCH_CACHE_H
#define RECMAP_ORDER_EPOCH_CACHE_H

#include <stdatomic.h>
#include <stdint.h>

/* A cached thing begins with its epoch and is one piece of memory (malloc). */
typedef struct epoch_state {
    uint64_t epoch;
} epoch_state;

/* Even and odd epochs have a place each: a reader that looks ahead is in two. */
typedef struct epoch_cache {
    _Atomic(epoch_state *) places[2];
} epoch_cache;

/* The state of this epoch, or NULL. The caller owns it. */
epoch_state *epoch_cache_take(epoch_cache *cache, uint64_t epoch);

/* Gives it over. */
void epoch_cache_put(epoch_cache *cache, epoch_state *state);

void epoch_cache_free(epoch_cache *cache);

#endif
