/* The test vectors of docs/formats/rows.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "make_rows.h"
#include "order/rows/stream.h"
#include "support/vector_file.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

static recmap_order *make_chunked(const struct vector_case *vector, recmap_counts *counts) {
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    options.size = vector_number(vector, "size");
    options.overlap = vector_number(vector, "overlap");
    options.add = vector_number(vector, "add");
    options.seed = vector_number(vector, "seed");
    if (!strcmp(vector_text(vector, "documents"), "stored"))
        options.documents = RECMAP_DOCUMENTS_STORED;
    if (!strcmp(vector_text(vector, "last"), "pad")) options.last = RECMAP_TAIL_PAD;
    return chunked(counts, &options);
}

static recmap_order *make_packed(const struct vector_case *vector, recmap_counts *counts) {
    recmap_packed_options options = RECMAP_PACKED_OPTIONS_INIT;
    options.size = vector_number(vector, "size");
    options.add = vector_number(vector, "add");
    options.group = (uint32_t)vector_number(vector, "group");
    options.seed = vector_number(vector, "seed");
    if (!strcmp(vector_text(vector, "long"), "truncate"))
        options.long_documents = RECMAP_LONG_TRUNCATE;
    if (!strcmp(vector_text(vector, "long"), "drop")) options.long_documents = RECMAP_LONG_DROP;
    return packed(counts, &options);
}

static recmap_order *make_windows(const struct vector_case *vector, recmap_counts *counts) {
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    options.size = vector_number(vector, "size");
    options.stride = vector_number(vector, "stride");
    options.pad_before = vector_number(vector, "before");
    options.pad_after = vector_number(vector, "after");
    options.seed = vector_number(vector, "seed");
    return windows(counts, &options);
}

static recmap_order *make_order(const struct vector_case *vector) {
    size_t count;
    uint64_t *values = vector_numbers(vector, "counts", &count);
    recmap_counts *counts = make_counts(values, count);
    free(values);
    const char *kind = vector_text(vector, "kind");
    if (!strcmp(kind, "chunked")) return make_chunked(vector, counts);
    return !strcmp(kind, "packed") ? make_packed(vector, counts) : make_windows(vector, counts);
}

static void check_numbers(const struct vector_case *vector, const recmap_order *order,
                          unsigned epoch, const uint64_t *positions, size_t count) {
    char key[32];
    snprintf(key, sizeof key, "numbers-%u", epoch);
    size_t expected_count;
    uint64_t *expected = vector_numbers(vector, key, &expected_count);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0, position = 0;
        MUST(recmap_order_at(&number, order, epoch, &positions[i], 1, &error));
        if (number != expected[i])
            fail_msg("case %s: epoch %u, position %llu", vector_title(vector), epoch,
                     (unsigned long long)positions[i]);
        MUST(recmap_order_position_of(&position, order, epoch, number, &error));
        assert_int_equal(position, positions[i]);
    }
    free(expected);
}

/* The vector lists the number of pieces of each row, and then four numbers for each piece. */
static void check_pieces(const struct vector_case *vector, const recmap_order *order,
                         unsigned epoch, const uint64_t *positions, size_t count) {
    char key[32];
    snprintf(key, sizeof key, "pieces-%u", epoch);
    size_t expected_count, next = 0;
    uint64_t *expected = vector_numbers(vector, key, &expected_count);
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    MUST(recmap_order_pieces(&pieces, order, epoch, positions, count, &error));
    for (size_t row = 0; row < count; row++) {
        size_t here;
        const recmap_piece *items = row_items(&pieces, row, &here);
        if (here != expected[next++])
            fail_msg("case %s: epoch %u, row %zu has %zu pieces", vector_title(vector), epoch, row,
                     here);
        for (size_t i = 0; i < here; i++, next += 4)
            if (items[i].record != expected[next] || items[i].first != expected[next + 1] ||
                items[i].count != expected[next + 2] || items[i].place != expected[next + 3])
                fail_msg("case %s: epoch %u, row %zu, piece %zu", vector_title(vector), epoch, row,
                         i);
    }
    assert_int_equal(next, expected_count);
    recmap_pieces_deinit(&pieces);
    free(expected);
}

static void check_case(const struct vector_case *vector) {
    recmap_order *order = make_order(vector);
    if (recmap_order_count(order) != vector_number(vector, "rows"))
        fail_msg("case %s: another number of rows", vector_title(vector));
    char *description = describe(order);
    assert_string_equal(description, vector_text(vector, "describe"));
    free(description);
    size_t count;
    uint64_t *positions = vector_numbers(vector, "positions", &count);
    const unsigned epochs[] = {0, 1, 5, 0};
    for (int e = 0; e < 4; e++) {
        check_numbers(vector, order, epochs[e], positions, count);
        check_pieces(vector, order, epochs[e], positions, count);
    }
    free(positions);
    recmap_order_release(order);
}

static void test_rows_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("rows.txt");
    for (size_t i = 0; i < file.count; i++) check_case(vectors_at(&file, i));
    vectors_deinit(&file);
}

/* The tables of epochs as they are computed for millions of documents. */
static void test_vectors_of_scattered_tables(void **state) {
    stream_force_scatter_min(1);
    stream_force_block_shift(STREAM_BLOCK_SHIFT_MAX);
    test_rows_match_their_vectors(state);
    stream_force_scatter_min(0);
    stream_force_block_shift(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_match_their_vectors),
                                       cmocka_unit_test(test_vectors_of_scattered_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
