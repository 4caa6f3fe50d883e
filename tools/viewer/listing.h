/* The rows of the page's table: the items of a view, perhaps only those that a filter keeps,
 * perhaps in the order of a shuffled epoch. */
#ifndef RECMAP_TOOLS_VIEWER_LISTING_H
#define RECMAP_TOOLS_VIEWER_LISTING_H

#include <recmap/order.h>

#include "viewer/match_set.h"
#include "viewer/request.h"

enum { FILTERS_KEPT = 2, FILTER_SIZE = 2048, LISTING_ROWS_MAX = 500 };

/* The filters that were used last, because finding the matches takes time. */
struct filter_cache {
    struct {
        char expression[FILTER_SIZE]; /* "": not used */
        struct match_set matches;
    } entries[FILTERS_KEPT]; /* the last used first */
};

void filter_cache_deinit(struct filter_cache *cache);

struct listing {
    struct view *view;
    const struct match_set *matches; /* or NULL */
    recmap_order *order;             /* or NULL */
    uint64_t epoch;
    uint64_t count; /* rows */
};

/* Makes the listing that the fields `filter`, `seed` and `epoch` of a request ask for. It borrows
 * the view, and a set of the cache until the next call. Deinit also after an error. Errors: INVALID
 * for a malformed field; those of match_set_init. */
recmap_status listing_init(struct listing *listing, struct view *view, struct filter_cache *cache,
                           const struct request *request, recmap_error *error);
void listing_deinit(struct listing *listing);

/* The record numbers of the rows from `first` on: as many as there are, up to LISTING_ROWS_MAX. */
recmap_status listing_read(uint64_t *numbers, const struct listing *listing, uint64_t first,
                           size_t count, recmap_error *error);

/* The first row of a record. Returns false if it has none. */
bool listing_find(uint64_t *row, const struct listing *listing, uint64_t number);

#endif
