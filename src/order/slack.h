/* Slack: a number for each slot of a period, in a tree that adds to ranges and finds the first 0.
 */
#ifndef RECMAP_ORDER_SLACK_H
#define RECMAP_ORDER_SLACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Node i has the children 2i and 2i+1; leaves are the slots. A node's least is that of its leaves,
 * with all that was added to it as a whole, without what was added to nodes above. */
struct slack_tree {
    size_t leaves; /* a power of two */
    int32_t *least;
    int32_t *added;
};

/* Takes the numbers, none below 0. False when memory is out. */
bool slack_create(struct slack_tree *tree, const int32_t *numbers, size_t count);
void slack_destroy(struct slack_tree *tree);

/* Adds to the slots [from, to). */
void slack_add(struct slack_tree *tree, size_t from, size_t to, int32_t amount);

/* The first slot whose number is 0 or less, or tree->leaves. */
size_t slack_first_zero(const struct slack_tree *tree);

#endif
