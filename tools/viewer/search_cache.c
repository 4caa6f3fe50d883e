#include "viewer/search_cache.h"

#include <string.h>

#include "terminal/message.h"

void search_cache_deinit(struct search_cache *cache) {
    for (size_t i = 0; i < SEARCHES_KEPT; i++) search_deinit(&cache->entries[i].search);
}

/* Moves an entry to the front. */
static void move_to_front(struct search_cache *cache, size_t index) {
    while (index) {
        size_t size = sizeof *cache->entries;
        char entry[sizeof *cache->entries];
        memcpy(entry, &cache->entries[index], size);
        memcpy(&cache->entries[index], &cache->entries[index - 1], size);
        memcpy(&cache->entries[--index], entry, size);
    }
}

static recmap_status add_search(struct search_cache *cache, size_t index, const struct view *view,
                                const char *expression, recmap_error *error) {
    struct search search;
    recmap_status status = search_init(&search, view, expression, error);
    if (status != RECMAP_OK) {
        search_deinit(&search);
        return status;
    }
    search_continue(&search);
    search_deinit(&cache->entries[index].search);
    cache->entries[index].search = search;
    memcpy(cache->entries[index].expression, expression, strlen(expression) + 1);
    return RECMAP_OK;
}

/* A search that failed is removed, so that the next request tries again. */
static recmap_status fail_search(struct search_cache *cache, recmap_error *error) {
    *error = cache->entries[0].search.error;
    search_deinit(&cache->entries[0].search);
    cache->entries[0].expression[0] = 0;
    return error->status;
}

recmap_status search_cache_find(const struct search **search, struct search_cache *cache,
                                const struct view *view, const char *expression,
                                recmap_error *error) {
    size_t index = 0;
    while (index < SEARCHES_KEPT && strcmp(cache->entries[index].expression, expression) != 0)
        index++;
    if (index == SEARCHES_KEPT)
        RETURN_IF_FAILED(add_search(cache, --index, view, expression, error));
    move_to_front(cache, index);
    if (cache->entries[0].search.error.status != RECMAP_OK) return fail_search(cache, error);
    *search = &cache->entries[0].search;
    return RECMAP_OK;
}

bool search_cache_continue(struct search_cache *cache) {
    struct search *search = &cache->entries[0].search;
    if (!search->filter || search_is_complete(search)) return false;
    search_continue(search);
    return !search_is_complete(search);
}
