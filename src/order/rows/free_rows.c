#include "order/rows/free_rows.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/bytes.h"

/* Copies of these functions for a known depth take a third less time. */
#define INLINE static inline __attribute__((always_inline))

enum { DIGIT_BITS = 6, DEPTH_MAX = 7, NONE = UINT32_MAX };

INLINE unsigned digit(uint64_t space, unsigned level) {
    return space >> (DIGIT_BITS * level) & 63;
}

bool free_rows_init(struct free_rows *rows, uint64_t size, size_t row_limit) {
    unsigned depth = (bit_length(size - 1) + DIGIT_BITS - 1) / DIGIT_BITS;
    *rows = (struct free_rows){.depth = depth ? depth : 1};
    rows->next = malloc((row_limit ? row_limit : 1) * sizeof *rows->next);
    if (!rows->next || !array_reserve(&rows->nodes, &rows->capacity, 1, sizeof *rows->nodes)) {
        free_rows_deinit(rows);
        return false;
    }
    free_rows_clear(rows);
    return true;
}

void free_rows_deinit(struct free_rows *rows) {
    free(rows->nodes);
    free(rows->next);
    rows->nodes = NULL;
    rows->next = NULL;
}

void free_rows_clear(struct free_rows *rows) {
    rows->nodes[0].bits = 0; /* the root */
    rows->node_count = 1;
    rows->unused = NONE;
}

/* An empty node, or NONE if memory is out. */
static uint32_t add_node(struct free_rows *rows) {
    uint32_t node = rows->unused;
    if (node != NONE) {
        rows->unused = rows->nodes[node].below[0];
    } else {
        if (!array_reserve(&rows->nodes, &rows->capacity, rows->node_count + 1,
                           sizeof *rows->nodes))
            return NONE;
        node = (uint32_t)rows->node_count++;
    }
    rows->nodes[node].bits = 0;
    return node;
}

/* The digits of the space, the highest first, lead from the root to a leaf, which has a list of
 * rows for each lowest digit. The row becomes the first of its list. */
INLINE bool put(struct free_rows *rows, unsigned depth, uint32_t row, uint64_t space) {
    assert(space && !(space >> (DIGIT_BITS * depth)));
    uint32_t node = 0;
    for (unsigned level = depth - 1; level; level--) {
        unsigned d = digit(space, level);
        if (!(rows->nodes[node].bits >> d & 1)) {
            uint32_t child = add_node(rows);
            if (child == NONE) return false;
            rows->nodes[node].bits |= (uint64_t)1 << d;
            rows->nodes[node].below[d] = child;
        }
        node = rows->nodes[node].below[d];
    }
    struct free_node *leaf = &rows->nodes[node];
    unsigned d = digit(space, 0);
    rows->next[row] = leaf->bits >> d & 1 ? leaf->below[d] : NONE;
    leaf->bits |= (uint64_t)1 << d;
    leaf->below[d] = row;
    return true;
}

/* The nodes from the root to the lowest level that lead to a space. */
struct free_path {
    uint32_t nodes[DEPTH_MAX];
    uint64_t space;
};

/* Children of a node from digit `d` on, or after it. */
static uint64_t children_from(const struct free_node *node, unsigned d) {
    return node->bits & UINT64_MAX << d;
}

static uint64_t children_after(const struct free_node *node, unsigned d) {
    return node->bits & (UINT64_MAX << d) << 1;
}

/* The smallest space that is enough shares its first digits with `needed`, and then continues with
 * a larger digit, unless it equals `needed`. Finds the level of that digit: follows the digits of
 * `needed` down as far as there are nodes, and from there goes back up to the first node that has a
 * larger child. Returns the candidates for the digit as bits, of which the smallest is the right
 * one; 0 if all spaces are smaller than `needed`. */
INLINE uint64_t find_turn(struct free_path *path, unsigned *level, const struct free_rows *rows,
                          unsigned depth, uint64_t needed) {
    const struct free_node *node = rows->nodes;
    unsigned l = depth - 1;
    path->nodes[l] = 0;
    for (; l && node->bits >> digit(needed, l) & 1; l--) {
        path->nodes[l - 1] = node->below[digit(needed, l)];
        node = &rows->nodes[path->nodes[l - 1]];
    }
    uint64_t candidates = l ? children_after(node, digit(needed, l))
                            : children_from(node, digit(needed, 0));
    while (!candidates && ++l < depth)
        candidates = children_after(&rows->nodes[path->nodes[l]], digit(needed, l));
    *level = l;
    return candidates;
}

INLINE bool find(struct free_path *path, const struct free_rows *rows, unsigned depth,
                 uint64_t needed) {
    unsigned level;
    uint64_t candidates = find_turn(path, &level, rows, depth, needed);
    if (!candidates) return false;
    unsigned shift = DIGIT_BITS * (level + 1);
    path->space = needed >> shift << shift;
    for (;;) {
        unsigned d = (unsigned)__builtin_ctzll(candidates);
        path->space |= (uint64_t)d << (DIGIT_BITS * level);
        if (!level) return true;
        uint32_t child = rows->nodes[path->nodes[level]].below[d];
        path->nodes[--level] = child;
        candidates = rows->nodes[child].bits;
    }
}

/* Removes a space that has no rows any more, and the nodes that only led to it. */
INLINE void remove_space(struct free_rows *rows, unsigned depth, const struct free_path *path) {
    for (unsigned level = 0; level < depth; level++) {
        struct free_node *node = &rows->nodes[path->nodes[level]];
        node->bits &= ~((uint64_t)1 << digit(path->space, level));
        if (node->bits || level == depth - 1) return;
        node->below[0] = rows->unused;
        rows->unused = path->nodes[level];
    }
}

INLINE bool take(uint32_t *row, uint64_t *space, struct free_rows *rows, unsigned depth,
                 uint64_t needed) {
    struct free_path path;
    if (!find(&path, rows, depth, needed)) return false;
    uint32_t *top = &rows->nodes[path.nodes[0]].below[digit(path.space, 0)];
    *row = *top;
    assert(path.space >= needed);
    *space = path.space;
    *top = rows->next[*row];
    if (*top == NONE) remove_space(rows, depth, &path);
    return true;
}

bool free_rows_put(struct free_rows *rows, uint32_t row, uint64_t space) {
    switch (rows->depth) {
    case 2: return put(rows, 2, row, space);
    case 3: return put(rows, 3, row, space);
    default: return put(rows, rows->depth, row, space);
    }
}

bool free_rows_take(uint32_t *row, uint64_t *space, struct free_rows *rows, uint64_t needed) {
    switch (rows->depth) {
    case 2: return take(row, space, rows, 2, needed);
    case 3: return take(row, space, rows, 3, needed);
    default: return take(row, space, rows, rows->depth, needed);
    }
}
