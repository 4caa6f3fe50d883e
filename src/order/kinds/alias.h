/* An alias table (Walker, Vose): draws an index by weight with one lookup, in integer arithmetic.
 *
 * The table has one column for each index, all of the same height. A column belongs to its own
 * index below a threshold, and to another index above. The heights that belong to an index add up
 * to its weight. */
#ifndef RECMAP_ORDER_KINDS_ALIAS_H
#define RECMAP_ORDER_KINDS_ALIAS_H

#include <stddef.h>
#include <stdint.h>

#include "order/kinds/digest.h"

struct alias_column {
    uint64_t threshold; /* heights below it are the column's own */
    uint64_t other;
};

struct alias_table {
    struct alias_column *columns;
    size_t count;
    unsigned height_bits;        /* a column is 2^height_bits high */
    uint8_t digest[DIGEST_SIZE]; /* of the weights, scaled to the table's whole area */
};

/* Asks the thread's interrupt. Errors: as weights_to_integers, and NO_MEMORY. */
recmap_status alias_init(struct alias_table *table, const double *weights, size_t count,
                         recmap_error *error);
void alias_deinit(struct alias_table *table);

/* The index drawn by two random words. */
uint64_t alias_draw(const struct alias_table *table, uint64_t column_word, uint64_t height_word);

#endif
