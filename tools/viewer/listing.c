#include "viewer/listing.h"

#include "terminal/message.h"

static recmap_status fail_field(recmap_error *error, const char *name) {
    return message_fail(error, RECMAP_INVALID, NULL, NULL, "the field '%s' is malformed", name);
}

static recmap_status set_filter(struct listing *listing, struct search_cache *cache,
                                const struct request *request, recmap_error *error) {
    char expression[EXPRESSION_SIZE];
    switch (request_get_text(expression, sizeof expression, request, "filter")) {
    case FIELD_MISSING: return RECMAP_OK;
    case FIELD_INVALID: return fail_field(error, "filter");
    default: break;
    }
    if (!*expression) return RECMAP_OK;
    RETURN_IF_FAILED(search_cache_find(&listing->search, cache, listing->view, expression, error));
    listing->matches = search_matches(listing->search);
    listing->count = listing->matches->count;
    return RECMAP_OK;
}

bool listing_is_complete(const struct listing *listing) {
    return !listing->search || search_is_complete(listing->search);
}

/* An epoch is shuffled once all of its matches are known. */
static recmap_status set_order(struct listing *listing, const struct request *request,
                               recmap_error *error) {
    uint64_t seed;
    enum request_field field = request_get_number(&seed, request, "seed");
    if (field == FIELD_INVALID) return fail_field(error, "seed");
    if (request_get_number(&listing->epoch, request, "epoch") == FIELD_INVALID)
        return fail_field(error, "epoch");
    if (field == FIELD_MISSING) return RECMAP_OK;
    if (!listing_is_complete(listing)) listing->count = 0;
    if (!listing->count) return RECMAP_OK;
    return recmap_order_shuffled(&listing->order, listing->count, seed, error);
}

recmap_status listing_init(struct listing *listing, struct view *view, struct search_cache *cache,
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
            recmap_order_read(numbers, listing->order, listing->epoch, first, count, error));
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
