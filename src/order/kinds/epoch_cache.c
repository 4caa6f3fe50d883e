#include "order/kinds/epoch_cache.h"

#include <stdlib.h>

struct epoch_state *epoch_cache_take(struct epoch_cache *cache, uint64_t epoch) {
    struct epoch_state *state = atomic_exchange(&cache->places[epoch & 1], NULL);
    if (state && state->epoch != epoch) {
        epoch_cache_put(cache, state);
        return NULL;
    }
    return state;
}

void epoch_cache_put(struct epoch_cache *cache, struct epoch_state *state) {
    free(atomic_exchange(&cache->places[state->epoch & 1], state));
}

void epoch_cache_deinit(struct epoch_cache *cache) {
    for (int i = 0; i < 2; i++) free(atomic_exchange(&cache->places[i], NULL));
}
