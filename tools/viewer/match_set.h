/* The items that a filter keeps: a bit for each, and sums of bits, so that the item at a rank is
 * found without counting from the start. An eighth of a byte per item. Items are added in sequence,
 * and the set can be used after each addition. */
#ifndef RECMAP_TOOLS_VIEWER_MATCH_SET_H
#define RECMAP_TOOLS_VIEWER_MATCH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

struct match_set {
    uint64_t *words;     /* a bit for each item */
    uint64_t *sums;      /* matches before each group of words */
    uint64_t item_count; /* added so far */
    uint64_t count;      /* matches among them */
};

/* An empty set with room for `capacity` items. Deinit also after an error. Errors: NO_MEMORY. */
recmap_status match_set_init(struct match_set *set, uint64_t capacity, recmap_error *error);
void match_set_deinit(struct match_set *set);

/* Adds the next items: matches[i] is 1 if the filter keeps item set->item_count + i, else 0. */
void match_set_add(struct match_set *set, const uint8_t *matches, size_t count);

/* Returns true if the item at a position was added and is a match. */
bool match_set_has(const struct match_set *set, uint64_t position);

/* The position of match `rank`, which is below set->count. */
uint64_t match_set_select(const struct match_set *set, uint64_t rank);

/* Finds the rank of the match at a position. Returns false if the item is not a match. */
bool match_set_rank(uint64_t *rank, const struct match_set *set, uint64_t position);

#endif
