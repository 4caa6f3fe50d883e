/* A search for the items of a view that a filter keeps. It is done in slices of milliseconds, so
 * that the server can answer other requests meanwhile. */
#ifndef RECMAP_TOOLS_VIEWER_SEARCH_H
#define RECMAP_TOOLS_VIEWER_SEARCH_H

#include <recmap/filter.h>

#include "records/view.h"
#include "viewer/match_set.h"

struct search {
    const struct view *view;
    recmap_filter *filter;
    struct match_set records; /* the records of the data set that match */
    struct match_set items;   /* the items of a selection that match; not used for an index */
    recmap_error error;       /* why the search ended early */
};

/* Starts a search, which borrows the view. Deinit also after an error. Errors: those of
 * recmap_filter_create; NO_MEMORY. */
recmap_status search_init(struct search *search, const struct view *view, const char *expression,
                          recmap_error *error);
void search_deinit(struct search *search);

/* Searches the next slice. An error ends the search, and is kept in it. */
void search_continue(struct search *search);

/* Returns true if there is nothing left to search, or an error ended it. */
bool search_is_complete(const struct search *search);

/* The matches found so far, in the sequence of the view's items. */
const struct match_set *search_matches(const struct search *search);

/* How much of the work is done. */
void search_progress(uint64_t *searched, uint64_t *total, const struct search *search);

#endif
