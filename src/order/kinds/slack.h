/* A segment tree over slots, with a number (its slack) for each: adds to ranges of slots and finds
 * the first slot whose slack is 0 or less. */
#ifndef RECMAP_ORDER_KINDS_SLACK_H
#define RECMAP_ORDER_KINDS_SLACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Node i has the children 2i and 2i+1; leaves are the slots. A node's minimum is the minimum of its
 * leaves, including what was added to the node as a whole, without what was added to nodes
 * above. */
struct slack_tree {
    size_t leaves; /* a power of two */
    int32_t *minimum;
    int32_t *added;
};

/* Creates the tree from numbers that are not negative. Returns false without memory. */
bool slack_init(struct slack_tree *tree, const int32_t *numbers, size_t count);
void slack_deinit(struct slack_tree *tree);

/* Adds to the slots [first, end). */
void slack_add(struct slack_tree *tree, size_t first, size_t end, int32_t amount);

/* The first slot whose slack is 0 or less, or tree->leaves. */
size_t slack_first_zero(const struct slack_tree *tree);

#endif
