/* Rows by their free space: finds the row with the smallest sufficient space, in a few steps for
 * any number of rows.
 *
 * Free spaces are keys of a trie of 64-way nodes, so that a node's children are the bits of one
 * word. Rows with equal space are a stack: the one that was put last is taken first. */
#ifndef RECMAP_ORDER_ROWS_FREE_ROWS_H
#define RECMAP_ORDER_ROWS_FREE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct free_node {
    uint64_t bits;      /* which children exist */
    uint32_t below[64]; /* nodes; on the lowest level, the row that was put last */
};

struct free_rows {
    unsigned depth; /* levels of nodes */
    struct free_node *nodes;
    size_t node_count;
    size_t capacity;
    uint32_t unused; /* first of a list of nodes that can be used again */
    uint32_t *next;  /* by row: the row below it on its stack */
};

/* For spaces below `size` and rows below `row_limit`. Returns false if memory runs out. */
bool free_rows_init(struct free_rows *rows, uint64_t size, size_t row_limit);
void free_rows_deinit(struct free_rows *rows);

/* Removes all rows. */
void free_rows_clear(struct free_rows *rows);

/* Adds a row that has free space, which must be above 0. Returns false if memory runs out. */
bool free_rows_put(struct free_rows *rows, uint32_t row, uint64_t space);

/* Removes the row with the smallest space that is at least `needed`, and returns it with its space.
 * Returns false if there is none. */
bool free_rows_take(uint32_t *row, uint64_t *space, struct free_rows *rows, uint64_t needed);

#endif
