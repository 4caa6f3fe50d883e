#include <recmap/rows.h>

#include <assert.h>

#include "base/core/error.h"
#include "order/kinds/order.h"

uint64_t recmap_order_row_width(const recmap_order *order) {
    return order->rows.width;
}

int recmap_order_has_windows(const recmap_order *order) {
    return order->rows.has_windows;
}

uint64_t recmap_order_record_limit(const recmap_order *order) {
    return order->record_limit;
}

double recmap_order_fill(const recmap_order *order) {
    return order->rows.fill;
}

uint64_t recmap_order_element_count(const recmap_order *order) {
    return order->rows.element_count;
}

uint64_t recmap_order_left_out(const recmap_order *order) {
    return order->rows.left_out;
}

recmap_status recmap_order_pieces(recmap_pieces *pieces, const recmap_order *order, uint64_t epoch,
                                  const uint64_t *positions, size_t count, recmap_error *error) {
    pieces->count = pieces->row_count = 0;
    if (!order->rows.width)
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
