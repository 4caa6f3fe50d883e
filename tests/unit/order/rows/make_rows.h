/* Row orders for tests, made from a few numbers, and what a row order must always hold. A maker
 * ends the test instead of failing; what it returns is the caller's. */
#ifndef RECMAP_TESTS_UNIT_ORDER_ROWS_MAKE_ROWS_H
#define RECMAP_TESTS_UNIT_ORDER_ROWS_MAKE_ROWS_H

#include <stdbool.h>

#include <recmap/rows.h>

recmap_counts *make_counts(const uint64_t *values, size_t count);

/* Skewed counts from 0 to `max`: most are small. One in `zeros` is 0; with `zeros` 0, none is. */
uint64_t *make_values(size_t count, uint64_t max, uint64_t zeros, uint64_t seed);

/* These release `counts`. */
recmap_order *chunked(recmap_counts *counts, const recmap_chunked_options *options);
recmap_order *packed(recmap_counts *counts, const recmap_packed_options *options);
recmap_order *windows(recmap_counts *counts, const recmap_windows_options *options);

/* The pieces of all rows of an epoch, by position; for the caller to free. */
recmap_pieces all_pieces(const recmap_order *order, uint64_t epoch);

/* The items of row `i`. */
const recmap_piece *row_items(const recmap_pieces *pieces, size_t i, size_t *count);

/* Checks that the pieces of every row have elements, lie in the row in ascending places, that
 * records are below the limit, and that rows are the same one by one, in reverse, and in random
 * batches. */
void check_rows(const recmap_order *order, uint64_t epoch);

#endif
