/* The rows of the page's table: the items of a view, perhaps only those that a filter keeps,
 * perhaps in the order of a shuffled epoch. */
#ifndef RECMAP_TOOLS_VIEWER_LISTING_H
#define RECMAP_TOOLS_VIEWER_LISTING_H

#include <recmap/order.h>

#include "viewer/request.h"
#include "viewer/search_cache.h"

enum { LISTING_ROWS_MAX = 500 };

struct listing {
    struct view *view;
    const struct search *search;     /* of the filter, or NULL */
    const struct match_set *matches; /* of the search, or NULL */
    recmap_order *order;             /* or NULL */
    uint64_t epoch;
    uint64_t count; /* rows; of an unfinished search, those found so far, or 0 if shuffled */
};

/* Makes the listing that the fields `filter`, `seed` and `epoch` of a request ask for. It borrows
 * the view, and a search of the cache until the next call. Deinit also after an error. Errors:
 * INVALID for a malformed field; those of search_cache_find. */
recmap_status listing_init(struct listing *listing, struct view *view, struct search_cache *cache,
                           const struct request *request, recmap_error *error);
void listing_deinit(struct listing *listing);

/* Returns true if the listing has all of its rows: its filter has been compared with all records.
 */
bool listing_is_complete(const struct listing *listing);

/* The record numbers of the rows from `first` on: as many as there are, up to LISTING_ROWS_MAX. */
recmap_status listing_read(uint64_t *numbers, const struct listing *listing, uint64_t first,
                           size_t count, recmap_error *error);

/* The first row of a record. Returns false if it has none. */
bool listing_find(uint64_t *row, const struct listing *listing, uint64_t number);

#endif
