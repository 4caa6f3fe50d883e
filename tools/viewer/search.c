#include "viewer/search.h"

#include <string.h>

#include "terminal/message.h"

/* A chunk takes about 3 ms for a simple expression, and a slice the time of a slow request. */
enum { CHUNK = 1 << 16, SLICE_CHUNKS = 4 };

static uint64_t record_count(const struct search *search) {
    return recmap_dataset_count(search->view->dataset);
}

recmap_status search_init(struct search *search, const struct view *view, const char *expression,
                          recmap_error *error) {
    *search = (struct search){.view = view, .error = RECMAP_ERROR_INIT};
    RETURN_IF_FAILED(recmap_filter_create(&search->filter, view->dataset, expression,
                                          strlen(expression), error));
    RETURN_IF_FAILED(match_set_init(&search->records, record_count(search), error));
    return view->numbers ? match_set_init(&search->items, view->count, error) : RECMAP_OK;
}

void search_deinit(struct search *search) {
    recmap_filter_destroy(search->filter);
    match_set_deinit(&search->records);
    match_set_deinit(&search->items);
    *search = (struct search){.filter = NULL};
}

/* How many items the next chunk of a set has; 0 if it is complete. */
static size_t chunk_size(const struct match_set *set, uint64_t total) {
    uint64_t left = total - set->item_count;
    return left < CHUNK ? (size_t)left : CHUNK;
}

static recmap_status match_records(struct search *search, size_t count, recmap_error *error) {
    uint8_t matches[CHUNK];
    RETURN_IF_FAILED(
        recmap_filter_match(matches, search->filter, search->records.item_count, count, error));
    match_set_add(&search->records, matches, count);
    return RECMAP_OK;
}

/* The items of a selection need not ascend, so all records are matched before any item. */
static void match_items(struct search *search, size_t count) {
    uint8_t matches[CHUNK];
    for (size_t i = 0; i < count; i++) {
        uint64_t number = view_number(search->view, search->items.item_count + i);
        matches[i] = match_set_has(&search->records, number);
    }
    match_set_add(&search->items, matches, count);
}

void search_continue(struct search *search) {
    for (int i = 0; i < SLICE_CHUNKS && !search_is_complete(search); i++) {
        size_t count = chunk_size(&search->records, record_count(search));
        if (!count) match_items(search, chunk_size(&search->items, search->view->count));
        else if (match_records(search, count, &search->error) != RECMAP_OK) return;
    }
}

bool search_is_complete(const struct search *search) {
    uint64_t searched, total;
    search_progress(&searched, &total, search);
    return searched == total || search->error.status != RECMAP_OK;
}

const struct match_set *search_matches(const struct search *search) {
    return search->view->numbers ? &search->items : &search->records;
}

void search_progress(uint64_t *searched, uint64_t *total, const struct search *search) {
    *searched = search->records.item_count + search->items.item_count;
    *total = record_count(search) + (search->view->numbers ? search->view->count : 0);
}
