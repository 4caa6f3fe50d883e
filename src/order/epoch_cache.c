#include "order/epoch_cache.h"

#include <stdlib.h>

epoch_state *epoch_cache_take(epoch_cache *cache, uint64_t epoch) {
    epoch_state *found = atomic_exchange(&cache->places[epoch & 1], NULL);
    if (found && found->epoch != epoch) {
        epoch_cache_put(cache, found);
        return NULL;
    }
    return found;
}

void epoch_cache_put(epoch_cache *cache, epoch_state *state) {
    free(atomic_exchange(&cache->places[state->epoch & 1], state));
}

void epoch_cache_free(epoch_cache *cache) {
    for (int i = 0; i < 2; i++) free(atomic_exchange(&cache->places[i], NULL));
}
