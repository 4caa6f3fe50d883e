#include "make_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

recmap_counts *make_counts(const uint64_t *values, size_t count) {
    recmap_counts *counts = NULL;
    MUST(recmap_counts_create(&counts, values, sizeof *values, count, &error));
    return counts;
}

uint64_t *make_values(size_t count, uint64_t max, uint64_t zeros, uint64_t seed) {
    uint64_t *values = make_array(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = random_word(seed, i), limit = max;
        for (uint64_t halvings = word & 7; halvings && limit > 1; halvings--) limit /= 2;
        bool is_zero = zeros && random_below(random_word(word, 1), zeros) == 0;
        values[i] = is_zero ? 0 : 1 + random_below(random_word(word, 0), limit);
    }
    return values;
}

recmap_order *chunked(recmap_counts *counts, const recmap_chunked_options *options) {
    recmap_order *order = NULL;
    MUST(recmap_order_chunked(&order, counts, options, &error));
    recmap_counts_release(counts);
    return order;
}

recmap_order *packed(recmap_counts *counts, const recmap_packed_options *options) {
    recmap_order *order = NULL;
    MUST(recmap_order_packed(&order, counts, options, &error));
    recmap_counts_release(counts);
    return order;
}

recmap_order *windows(recmap_counts *counts, const recmap_windows_options *options) {
    recmap_order *order = NULL;
    MUST(recmap_order_windows(&order, counts, options, &error));
    recmap_counts_release(counts);
    return order;
}

recmap_pieces all_pieces(const recmap_order *order, uint64_t epoch) {
    size_t count = recmap_order_count(order);
    uint64_t *positions = make_array(count, sizeof *positions);
    for (size_t i = 0; i < count; i++) positions[i] = i;
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    MUST(recmap_order_pieces(&pieces, order, epoch, positions, count, &error));
    assert_int_equal(pieces.row_count, count);
    free(positions);
    return pieces;
}

const recmap_piece *row_items(const recmap_pieces *pieces, size_t i, size_t *count) {
    size_t first = i ? pieces->ends[i - 1] : 0;
    assert_true(i < pieces->row_count);
    *count = pieces->ends[i] - first;
    return pieces->items + first;
}

static void check_row(const recmap_order *order, const recmap_pieces *pieces, size_t row) {
    size_t count;
    const recmap_piece *items = row_items(pieces, row, &count);
    uint64_t end = 0;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(items[i].count > 0);
        assert_true(items[i].place >= end);
        assert_true(items[i].record < recmap_order_record_limit(order));
        end = items[i].place + items[i].count;
    }
    assert_true(end <= recmap_order_row_width(order));
}

/* The rows at some positions must equal those of the whole epoch. */
static void check_batch(const recmap_order *order, uint64_t epoch, const recmap_pieces *all,
                        const uint64_t *positions, size_t count) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    MUST(recmap_order_pieces(&pieces, order, epoch, positions, count, &error));
    assert_int_equal(pieces.row_count, count);
    for (size_t i = 0; i < count; i++) {
        size_t expected, found;
        const recmap_piece *a = row_items(all, positions[i], &expected);
        const recmap_piece *b = row_items(&pieces, i, &found);
        assert_int_equal(expected, found);
        assert_memory_equal(a, b, found * sizeof *a);
    }
    recmap_pieces_deinit(&pieces);
}

void check_rows(const recmap_order *order, uint64_t epoch) {
    recmap_pieces all = all_pieces(order, epoch);
    uint64_t positions[50], count = all.row_count;
    for (size_t i = 0; i < count; i++) check_row(order, &all, i);
    for (uint64_t i = 0; i < count && i < 20; i++) {
        uint64_t last = count - 1 - i;
        check_batch(order, epoch, &all, &i, 1);
        check_batch(order, epoch, &all, &last, 1);
    }
    for (uint64_t batch = 0; count && batch < 10; batch++) {
        for (uint64_t i = 0; i < 50; i++) positions[i] = random_below(random_word(batch, i), count);
        check_batch(order, epoch, &all, positions, 5 * batch + 1);
    }
    recmap_pieces_deinit(&all);
}
