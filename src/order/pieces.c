#include "order/pieces.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "order/order.h"

recmap_status pieces_add(recmap_pieces *pieces, recmap_piece piece, recmap_error *error) {
    if (pieces->count == pieces->capacity &&
        !array_reserve(&pieces->items, &pieces->capacity, pieces->count + 1, sizeof piece))
        return fail_memory(error);
    pieces->items[pieces->count++] = piece;
    return RECMAP_OK;
}

recmap_status pieces_end_row(recmap_pieces *pieces, recmap_error *error) {
    if (pieces->row_count == pieces->row_capacity &&
        !array_reserve(&pieces->ends, &pieces->row_capacity, pieces->row_count + 1,
                       sizeof *pieces->ends))
        return fail_memory(error);
    assert(!pieces->row_count || pieces->ends[pieces->row_count - 1] <= pieces->count);
    pieces->ends[pieces->row_count++] = pieces->count;
    return interrupt_check(thread_interrupt(), INTERRUPT_RECORD_WORK, error);
}

void recmap_pieces_deinit(recmap_pieces *pieces) {
    free(pieces->items);
    free(pieces->ends);
    *pieces = (recmap_pieces)RECMAP_PIECES_INIT;
}

uint64_t recmap_order_row_width(const recmap_order *order) {
    return order->row_width;
}

int recmap_order_has_windows(const recmap_order *order) {
    return order->has_windows;
}

uint64_t recmap_order_record_limit(const recmap_order *order) {
    return order->record_limit;
}

double recmap_order_fill(const recmap_order *order) {
    return order->fill;
}

recmap_status recmap_order_pieces(recmap_pieces *pieces, const recmap_order *order, uint64_t epoch,
                                  const uint64_t *positions, size_t count, recmap_error *error) {
    pieces->count = pieces->row_count = 0;
    if (!order->row_width)
        return fail(error, RECMAP_INVALID,
                    "a %s order is over records: only chunked, packed and windows orders have rows",
                    order->kind->name);
    recmap_status status = check_positions(order, positions, count, error);
    if (status != RECMAP_OK || !count) return status;
    status = order->kind->pieces(pieces, order, epoch, positions, count, error);
    assert(status != RECMAP_OK || pieces->row_count == count);
    if (status != RECMAP_OK) pieces->count = pieces->row_count = 0;
    return status;
}

recmap_status recmap_order_prepare(const recmap_order *order, uint64_t epoch, recmap_error *error) {
    if (!order->kind->prepare || !order->count) return RECMAP_OK;
    return order->kind->prepare(order, epoch, error);
}
