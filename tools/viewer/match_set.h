/* The items of a view that a filter keeps: a bit for each, and sums of bits, so that the item at a
 * rank is found without counting from the start. An eighth of a byte per item. */
#ifndef RECMAP_TOOLS_VIEWER_MATCH_SET_H
#define RECMAP_TOOLS_VIEWER_MATCH_SET_H

#include <stdbool.h>

#include "records/view.h"

struct match_set {
    uint64_t *words; /* a bit for each item */
    uint64_t *sums;  /* matches before each group of words */
    uint64_t item_count;
    uint64_t count; /* matches */
};

/* Finds the items for which the expression is true. Deinit also after an error. Errors: those of
 * recmap_filter_create; CANCELLED. */
recmap_status match_set_init(struct match_set *set, const struct view *view, const char *expression,
                             recmap_error *error);
void match_set_deinit(struct match_set *set);

/* The position in the view of match `rank`, which is below set->count. */
uint64_t match_set_select(const struct match_set *set, uint64_t rank);

/* Finds the rank of the match at a position. Returns false if the item is not a match. */
bool match_set_rank(uint64_t *rank, const struct match_set *set, uint64_t position);

#endif
