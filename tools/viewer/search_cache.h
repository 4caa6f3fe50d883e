/* The searches for the most recent filters, because a search takes time. Only the current filter's
 * search runs; the others are paused. */
#ifndef RECMAP_TOOLS_VIEWER_SEARCH_CACHE_H
#define RECMAP_TOOLS_VIEWER_SEARCH_CACHE_H

#include "viewer/search.h"

enum { SEARCHES_KEPT = 4, EXPRESSION_SIZE = 2048 };

struct search_cache {
    struct {
        char expression[EXPRESSION_SIZE]; /* "": not used */
        struct search search;
    } entries[SEARCHES_KEPT]; /* the last used first */
};

void search_cache_deinit(struct search_cache *cache);

/* Finds the search for an expression. If there is none, it takes the place of the search that was
 * unused longest, and does a first slice. The result is valid until the next call. Errors: those of
 * search_init; the search's own error, which removes it. */
recmap_status search_cache_find(const struct search **search, struct search_cache *cache,
                                const struct view *view, const char *expression,
                                recmap_error *error);

/* Does a slice of the search that was used last. Returns whether more is left. */
bool search_cache_continue(struct search_cache *cache);

#endif
