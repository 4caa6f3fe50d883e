#include "orders/row_printer.h"

#include <inttypes.h>
#include <stdio.h>

#include <recmap/rows.h>

#include "terminal/message.h"

/* Rows are computed in batches of this size. */
enum { ROWS_MAX = 64 };

static void print_text(const recmap_piece *piece, bool is_first) {
    printf("%s%" PRIu64 ":%" PRIu64 ":%" PRIu64, is_first ? "" : " ", piece->record, piece->first,
           piece->count);
}

static void print_json(const recmap_piece *piece, bool is_first) {
    printf("%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", is_first ? "" : ", ",
           piece->record, piece->first, piece->count, piece->place);
}

/* Some rows of an epoch, one after the other. */
struct row_batch {
    uint64_t positions[ROWS_MAX];
    uint64_t numbers[ROWS_MAX];
    recmap_pieces pieces;
};

static void print_row(const struct row_batch *rows, size_t row, enum row_format format) {
    const recmap_pieces *pieces = &rows->pieces;
    size_t first = row ? pieces->ends[row - 1] : 0;
    if (format == ROW_JSON)
        printf("{\"position\": %" PRIu64 ", \"row\": %" PRIu64 ", \"pieces\": [",
               rows->positions[row], rows->numbers[row]);
    for (size_t i = first; i < pieces->ends[row]; i++)
        (format == ROW_JSON ? print_json : print_text)(&pieces->items[i], i == first);
    puts(format == ROW_JSON ? "]}" : "");
}

static recmap_status print_batch(struct row_batch *rows, struct order_iterator *iterator,
                                 enum row_format format, recmap_error *error) {
    const recmap_deal *deal = &iterator->deal;
    size_t count = iterator->left < ROWS_MAX ? (size_t)iterator->left : ROWS_MAX;
    RETURN_IF_FAILED(order_iterator_next_positions(iterator, rows->positions, count, error));
    RETURN_IF_FAILED(
        recmap_order_at(rows->numbers, deal->order, deal->epoch, rows->positions, count, error));
    RETURN_IF_FAILED(recmap_order_pieces(&rows->pieces, deal->order, deal->epoch, rows->positions,
                                         count, error));
    for (size_t i = 0; i < count; i++) {
        print_row(rows, i, format);
        if (ferror(stdout)) return message_fail_errno(error, "standard output", "write");
    }
    return RECMAP_OK;
}

recmap_status row_printer_print(struct order_iterator *iterator, enum row_format format,
                                recmap_error *error) {
    struct row_batch rows = {.pieces = RECMAP_PIECES_INIT};
    recmap_status status = RECMAP_OK;
    while (iterator->left && status == RECMAP_OK)
        status = print_batch(&rows, iterator, format, error);
    recmap_pieces_deinit(&rows.pieces);
    return status;
}
