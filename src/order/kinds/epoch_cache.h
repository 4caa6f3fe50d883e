/* A cache of what an order computed about an epoch, for the next call.
 *
 * A caller takes the state out of the cache and puts it back. While one thread has it, another
 * finds nothing and computes it again. So nobody ever waits, not even in a forked child. */
#ifndef RECMAP_ORDER_KINDS_EPOCH_CACHE_H
#define RECMAP_ORDER_KINDS_EPOCH_CACHE_H

#include <stdatomic.h>
#include <stdint.h>

/* A cached state begins with its epoch and is a single allocation (malloc). */
struct epoch_state {
    uint64_t epoch;
};

/* Even and odd epochs have separate places, because reading ahead spans two epochs. */
struct epoch_cache {
    _Atomic(struct epoch_state *) places[2];
};

/* The state of this epoch, or NULL. The caller owns it. */
struct epoch_state *epoch_cache_take(struct epoch_cache *cache, uint64_t epoch);

/* Returns a state to the cache, which then owns it. */
void epoch_cache_put(struct epoch_cache *cache, struct epoch_state *state);

void epoch_cache_deinit(struct epoch_cache *cache);

#endif
