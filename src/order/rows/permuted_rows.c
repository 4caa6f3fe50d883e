#include "order/rows/permuted_rows.h"

void permuted_rows_init_epoch(struct permutation *permutation, const recmap_order *order,
                              uint64_t epoch) {
    const struct permuted_rows *permuted = (const struct permuted_rows *)order;
    permutation_init(permutation, order->count, permuted->seed, epoch, permuted->stream);
}

recmap_status permuted_rows_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                               const uint64_t *positions, size_t count, recmap_error *error) {
    (void)error;
    struct permutation rows;
    permuted_rows_init_epoch(&rows, order, epoch);
    permutation_at(&rows, numbers, positions, count);
    return RECMAP_OK;
}

recmap_status permuted_rows_position_of(uint64_t *position, const recmap_order *order,
                                        uint64_t epoch, uint64_t number, recmap_error *error) {
    (void)error;
    struct permutation rows;
    permuted_rows_init_epoch(&rows, order, epoch);
    *position = permutation_inverse_one(&rows, number);
    return RECMAP_OK;
}
