#include "order/kinds/slack.h"

#include <assert.h>
#include <stdlib.h>

/* A value that no sum of additions can reduce to 0. */
enum { NEVER = 1 << 30 };

static int32_t minimum_of(const struct slack_tree *tree, size_t node) {
    int32_t left = tree->minimum[2 * node], right = tree->minimum[2 * node + 1];
    return (left < right ? left : right) + tree->added[node];
}

bool slack_init(struct slack_tree *tree, const int32_t *numbers, size_t count) {
    size_t leaves = 1;
    while (leaves < count) leaves *= 2;
    *tree = (struct slack_tree){leaves, calloc(2 * leaves, sizeof(int32_t)),
                                calloc(2 * leaves, sizeof(int32_t))};
    if (!tree->minimum || !tree->added) {
        slack_deinit(tree);
        return false;
    }
    for (size_t i = 0; i < leaves; i++) tree->minimum[leaves + i] = i < count ? numbers[i] : NEVER;
    for (size_t node = leaves - 1; node; node--) tree->minimum[node] = minimum_of(tree, node);
    return true;
}

void slack_deinit(struct slack_tree *tree) {
    free(tree->minimum);
    free(tree->added);
    *tree = (struct slack_tree){0, NULL, NULL};
}

static void add_to_node(struct slack_tree *tree, size_t node, int32_t amount) {
    tree->minimum[node] += amount;
    tree->added[node] += amount;
}

static void update_above(struct slack_tree *tree, size_t leaf) {
    for (size_t node = leaf / 2; node; node /= 2) tree->minimum[node] = minimum_of(tree, node);
}

void slack_add(struct slack_tree *tree, size_t first, size_t end, int32_t amount) {
    if (first >= end) return;
    assert(end <= tree->leaves);
    size_t first_leaf = first + tree->leaves, last_leaf = end - 1 + tree->leaves;
    for (size_t low = first_leaf, high = last_leaf + 1; low < high; low /= 2, high /= 2) {
        if (low & 1) add_to_node(tree, low++, amount);
        if (high & 1) add_to_node(tree, --high, amount);
    }
    update_above(tree, first_leaf);
    update_above(tree, last_leaf);
}

size_t slack_first_zero(const struct slack_tree *tree) {
    if (tree->minimum[1] > 0) return tree->leaves;
    size_t node = 1;
    int32_t above = 0; /* added to the nodes passed */
    while (node < tree->leaves) {
        above += tree->added[node];
        node = 2 * node + (tree->minimum[2 * node] + above > 0);
    }
    return node - tree->leaves;
}
