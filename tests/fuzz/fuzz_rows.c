/* Any bytes as element counts and options of row orders: refused, or an order whose rows keep the
 * rules of docs/formats/rows.md. The first bytes are options, the rest counts. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

#include "fuzz/fuzz.h"

enum { RECORDS_MAX = 300, ROWS = 24 };

static void check(bool holds) {
    if (!holds) abort();
}

struct input {
    const uint8_t *data;
    size_t size;
};

static uint64_t take(struct input *input, size_t size) {
    uint64_t value = 0;
    if (size > input->size) size = input->size;
    for (size_t i = 0; i < size; i++) value = value << 8 | input->data[i];
    input->data += size;
    input->size -= size;
    return value;
}

/* A number of any size: small ones are as likely as large ones. */
static uint64_t take_number(struct input *input) {
    return take(input, take(input, 1) % 9);
}

static recmap_counts *take_counts(struct input *input) {
    uint64_t values[RECORDS_MAX];
    size_t count = 0;
    while (input->size && count < RECORDS_MAX) values[count++] = take_number(input);
    recmap_counts *counts = NULL;
    if (recmap_counts_create(&counts, values, sizeof *values, count, NULL) != RECMAP_OK)
        return NULL;
    return counts;
}

static void check_row(const recmap_order *order, const recmap_pieces *pieces) {
    uint64_t end = 0;
    check(pieces->row_count == 1 && pieces->ends[0] == pieces->count && pieces->count > 0);
    for (size_t i = 0; i < pieces->count; i++) {
        const recmap_piece *piece = &pieces->items[i];
        check(piece->record < recmap_order_record_limit(order));
        check(piece->count > 0 && piece->place >= end);
        end = piece->place + piece->count;
    }
    check(end <= recmap_order_row_width(order));
}

static void check_order(const recmap_order *order, uint64_t epoch) {
    uint64_t count = recmap_order_count(order);
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    for (uint64_t i = 0; i < ROWS && i < count; i++) {
        uint64_t position = i % 2 ? count - 1 - i : i, number, found;
        check(recmap_order_at(&number, order, epoch, &position, 1, NULL) == RECMAP_OK);
        check(number < recmap_order_number_limit(order));
        check(recmap_order_position_of(&found, order, epoch, number, NULL) == RECMAP_OK);
        check(found == position);
        check(recmap_order_pieces(&pieces, order, epoch, &position, 1, NULL) == RECMAP_OK);
        check_row(order, &pieces);
    }
    recmap_pieces_deinit(&pieces);
    check(recmap_order_fill(order) >= 0 && recmap_order_fill(order) <= 1);
}

/* The input chooses the kind of order, all of its options and the counts of the documents. Options
 * that are refused end the run; every order that is created must keep its promises. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    recmap_chunked_options chunks = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packs = RECMAP_PACKED_OPTIONS_INIT;
    recmap_windows_options slices = RECMAP_WINDOWS_OPTIONS_INIT;
    uint64_t kind = take(&input, 1), choice = take(&input, 1), epoch = take_number(&input);
    uint64_t row_size = take_number(&input), first = take_number(&input);
    uint64_t second = take_number(&input), third = take_number(&input);
    recmap_counts *counts = take_counts(&input);
    if (!counts) return 0;
    chunks.documents = (recmap_documents)(choice & 1);
    chunks.last = (recmap_tail)(choice >> 1 & 1);
    packs.long_documents = (recmap_long)(choice % 3);
    chunks.size = packs.size = slices.size = row_size;
    chunks.overlap = slices.pad_before = first;
    chunks.add = packs.add = slices.pad_after = second;
    packs.group = (uint32_t)third;
    slices.stride = third;
    recmap_order *order = NULL;
    recmap_status status = kind % 3 == 0   ? recmap_order_chunked(&order, counts, &chunks, NULL)
                           : kind % 3 == 1 ? recmap_order_packed(&order, counts, &packs, NULL)
                                           : recmap_order_windows(&order, counts, &slices, NULL);
    if (status == RECMAP_OK) {
        check_order(order, epoch);
        recmap_order_release(order);
    }
    recmap_counts_release(counts);
    return 0;
}
