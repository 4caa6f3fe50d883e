/* Row orders in which each epoch is one permutation of all rows: what they have in common. */
#ifndef RECMAP_ORDER_ROWS_PERMUTED_ROWS_H
#define RECMAP_ORDER_ROWS_PERMUTED_ROWS_H

#include "base/permutation/permutation.h"
#include "order/kinds/order.h"

/* The first member of the struct of such an order. */
struct permuted_rows {
    recmap_order base;
    uint64_t seed;
    uint64_t stream; /* of the random words of the permutation */
};

/* The permutation of an epoch: position to row. */
void permuted_rows_init_epoch(struct permutation *permutation, const recmap_order *order,
                              uint64_t epoch);

/* The functions `at` and `position_of` of the kind: the number of a row is its place before it is
 * permuted. */
recmap_status permuted_rows_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                               const uint64_t *positions, size_t count, recmap_error *error);
recmap_status permuted_rows_position_of(uint64_t *position, const recmap_order *order,
                                        uint64_t epoch, uint64_t number, recmap_error *error);

#endif
