#include "viewer/listing.h"

#include <string.h>

#include "terminal/message.h"

void filter_cache_deinit(struct filter_cache *cache) {
    for (size_t i = 0; i < FILTERS_KEPT; i++) match_set_deinit(&cache->entries[i].matches);
}

/* Moves an entry to the front. */
static void move_to_front(struct filter_cache *cache, size_t index) {
    while (index) {
        size_t size = sizeof *cache->entries;
        char entry[sizeof *cache->entries];
        memcpy(entry, &cache->entries[index], size);
        memcpy(&cache->entries[index], &cache->entries[index - 1], size);
        memcpy(&cache->entries[--index], entry, size);
    }
}

/* Finds the matches in the cache, or puts them there in place of those that were unused longest. */
static recmap_status find_matches(const struct match_set **matches, struct filter_cache *cache,
                                  const struct view *view, const char *expression,
                                  recmap_error *error) {
    size_t index = 0;
    while (index < FILTERS_KEPT && strcmp(cache->entries[index].expression, expression) != 0)
        index++;
    if (index == FILTERS_KEPT) {
        struct match_set found;
        recmap_status status = match_set_init(&found, view, expression, error);
        if (status != RECMAP_OK) {
            match_set_deinit(&found);
            return status;
        }
        match_set_deinit(&cache->entries[--index].matches);
        cache->entries[index].matches = found;
        memcpy(cache->entries[index].expression, expression, strlen(expression) + 1);
    }
    move_to_front(cache, index);
    *matches = &cache->entries[0].matches;
    return RECMAP_OK;
}

static recmap_status fail_field(recmap_error *error, const char *name) {
    return message_fail(error, RECMAP_INVALID, NULL, NULL, "the field '%s' is malformed", name);
}

static recmap_status set_filter(struct listing *listing, struct filter_cache *cache,
                                const struct request *request, recmap_error *error) {
    char expression[FILTER_SIZE];
    switch (request_get_text(expression, sizeof expression, request, "filter")) {
    case FIELD_MISSING: return RECMAP_OK;
    case FIELD_INVALID: return fail_field(error, "filter");
    default: break;
    }
    if (!*expression) return RECMAP_OK;
    RETURN_IF_FAILED(find_matches(&listing->matches, cache, listing->view, expression, error));
    listing->count = listing->matches->count;
    return RECMAP_OK;
}

static recmap_status set_order(struct listing *listing, const struct request *request,
                               recmap_error *error) {
    uint64_t seed;
    enum request_field field = request_get_number(&seed, request, "seed");
    if (field == FIELD_INVALID) return fail_field(error, "seed");
    if (request_get_number(&listing->epoch, request, "epoch") == FIELD_INVALID)
        return fail_field(error, "epoch");
    if (field == FIELD_MISSING || !listing->count) return RECMAP_OK;
    return recmap_order_shuffled(&listing->order, listing->count, seed, error);
}

recmap_status listing_init(struct listing *listing, struct view *view, struct filter_cache *cache,
                           const struct request *request, recmap_error *error) {
    *listing = (struct listing){.view = view, .count = view->count};
    RETURN_IF_FAILED(set_filter(listing, cache, request, error));
    return set_order(listing, request, error);
}

void listing_deinit(struct listing *listing) {
    recmap_order_release(listing->order);
    listing->order = NULL;
}

recmap_status listing_read(uint64_t *numbers, const struct listing *listing, uint64_t first,
                           size_t count, recmap_error *error) {
    if (listing->order)
        RETURN_IF_FAILED(
            recmap_order_run(numbers, listing->order, listing->epoch, first, count, error));
    for (size_t i = 0; i < count; i++) {
        uint64_t position = listing->order ? numbers[i] : first + i;
        if (listing->matches) position = match_set_select(listing->matches, position);
        numbers[i] = view_number(listing->view, position);
    }
    return RECMAP_OK;
}

/* The row of the item at a position of the view. */
static bool find_row(uint64_t *row, const struct listing *listing, uint64_t position) {
    *row = position;
    if (listing->matches && !match_set_rank(row, listing->matches, position)) return false;
    if (!listing->order) return true;
    return recmap_order_position_of(row, listing->order, listing->epoch, *row, NULL) == RECMAP_OK;
}

bool listing_find(uint64_t *row, const struct listing *listing, uint64_t number) {
    const uint64_t *positions;
    size_t count;
    if (number >= recmap_dataset_count(listing->view->dataset)) return false;
    if (view_find(&positions, &count, listing->view, number, NULL) != RECMAP_OK) return false;
    for (size_t i = 0; i < count; i++)
        if (find_row(row, listing, positions[i])) return true;
    return false;
}
