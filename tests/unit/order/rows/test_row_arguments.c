/* Row orders from bad or extreme arguments: a clear error, or a defined result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "make_rows.h"
#include "order/counts/counts.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

static recmap_counts *three(void) {
    const uint64_t values[] = {5, 0, 9};
    return make_counts(values, 3);
}

/* Each option out of range by itself, with the message that names it. */
static void test_chunked_options_out_of_range_are_refused(void **state) {
    (void)state;
    recmap_counts *counts = three();
    recmap_order *order = NULL;
    recmap_chunked_options good = RECMAP_CHUNKED_OPTIONS_INIT, bad;
    good.size = 4;
    bad = good, bad.version = 7;
    MUST_FAIL(RECMAP_INVALID, "version 7", recmap_order_chunked(&order, counts, &bad, &error));
    bad = good, bad.size = 0;
    MUST_FAIL(RECMAP_INVALID, "invalid size of rows: 0",
              recmap_order_chunked(&order, counts, &bad, &error));
    bad = good, bad.size = RECMAP_ROW_SIZE_MAX + 1;
    MUST_FAIL(RECMAP_INVALID, "not from 1 to 2^40",
              recmap_order_chunked(&order, counts, &bad, &error));
    bad = good, bad.overlap = 4;
    MUST_FAIL(RECMAP_INVALID, "an overlap of 4 is not below 4",
              recmap_order_chunked(&order, counts, &bad, &error));
    bad = good, bad.add = RECMAP_ROW_SIZE_MAX + 1;
    MUST_FAIL(RECMAP_INVALID, "added elements", recmap_order_chunked(&order, counts, &bad, &error));
    bad = good, bad.documents = (recmap_documents)2;
    MUST_FAIL(RECMAP_INVALID, "order of documents: 2",
              recmap_order_chunked(&order, counts, &bad, &error));
    bad = good, bad.last = (recmap_tail)2;
    MUST_FAIL(RECMAP_INVALID, "last row: 2", recmap_order_chunked(&order, counts, &bad, &error));
    assert_null(order);
    recmap_counts_release(counts);
}

/* Each option out of range by itself, with the message that names it. */
static void test_packed_options_out_of_range_are_refused(void **state) {
    (void)state;
    recmap_counts *counts = three();
    recmap_order *order = NULL;
    recmap_packed_options good = RECMAP_PACKED_OPTIONS_INIT, bad;
    good.size = 4;
    bad = good, bad.version = 0;
    MUST_FAIL(RECMAP_INVALID, "version 0", recmap_order_packed(&order, counts, &bad, &error));
    bad = good, bad.size = 0;
    MUST_FAIL(RECMAP_INVALID, "invalid size of rows: 0",
              recmap_order_packed(&order, counts, &bad, &error));
    bad = good, bad.add = UINT64_MAX;
    MUST_FAIL(RECMAP_INVALID, "added elements", recmap_order_packed(&order, counts, &bad, &error));
    bad = good, bad.group = 0;
    MUST_FAIL(RECMAP_INVALID, "a group of 0", recmap_order_packed(&order, counts, &bad, &error));
    bad = good, bad.group = RECMAP_PACKED_GROUP_MAX + 1;
    MUST_FAIL(RECMAP_INVALID, "from 1 to 65536", recmap_order_packed(&order, counts, &bad, &error));
    bad = good, bad.long_documents = (recmap_long)3;
    MUST_FAIL(RECMAP_INVALID, "long documents: 3",
              recmap_order_packed(&order, counts, &bad, &error));
    assert_null(order);
    recmap_counts_release(counts);
}

/* Each option out of range by itself, with the message that names it. */
static void test_window_options_out_of_range_are_refused(void **state) {
    (void)state;
    recmap_counts *counts = three();
    recmap_order *order = NULL;
    recmap_windows_options good = RECMAP_WINDOWS_OPTIONS_INIT, bad;
    good.size = 4;
    bad = good, bad.version = 2;
    MUST_FAIL(RECMAP_INVALID, "version 2", recmap_order_windows(&order, counts, &bad, &error));
    bad = good, bad.size = 0;
    MUST_FAIL(RECMAP_INVALID, "invalid size of rows: 0",
              recmap_order_windows(&order, counts, &bad, &error));
    bad = good, bad.stride = 0;
    MUST_FAIL(RECMAP_INVALID, "invalid stride of rows: 0",
              recmap_order_windows(&order, counts, &bad, &error));
    bad = good, bad.pad_before = 4;
    MUST_FAIL(RECMAP_INVALID, "a pad of 4 is not below 4",
              recmap_order_windows(&order, counts, &bad, &error));
    bad = good, bad.pad_after = 9;
    MUST_FAIL(RECMAP_INVALID, "a pad of 9 is not below 4",
              recmap_order_windows(&order, counts, &bad, &error));
    assert_null(order);
    recmap_counts_release(counts);
}

/* More elements than fit, by what is added to each document or record. */
static void test_too_many_elements_are_refused(void **state) {
    (void)state;
    const uint64_t values[] = {RECMAP_COUNTS_MAX - 2, 1};
    recmap_counts *counts = make_counts(values, 2);
    recmap_order *order = NULL;
    recmap_chunked_options chunks = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packs = RECMAP_PACKED_OPTIONS_INIT;
    recmap_windows_options slices = RECMAP_WINDOWS_OPTIONS_INIT;
    chunks.size = packs.size = slices.size = 4;
    chunks.add = packs.add = slices.pad_after = 1;
    MUST_FAIL(RECMAP_INVALID, "more than 2^62",
              recmap_order_chunked(&order, counts, &chunks, &error));
    MUST_FAIL(RECMAP_INVALID, "more than 2^62",
              recmap_order_packed(&order, counts, &packs, &error));
    MUST_FAIL(RECMAP_INVALID, "more than 2^62",
              recmap_order_windows(&order, counts, &slices, &error));
    chunks.add = packs.add = 0;
    order = packed(recmap_counts_retain(counts), &packs);
    assert_int_equal(recmap_order_count(order), (uint64_t)1 << 60);
    recmap_order_release(order);
    order = chunked(counts, &chunks);
    assert_int_equal(recmap_order_count(order), ((uint64_t)1 << 60) - 1);
    recmap_order_release(order);
}

/* An order without rows has no positions, and says why. */
static void check_empty(recmap_order *order) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    recmap_error failure = RECMAP_ERROR_INIT;
    uint64_t position = 0, number;
    char *description = describe(order);
    assert_int_equal(recmap_order_count(order), 0);
    assert_non_null(strstr(description, "\"rows\":0"));
    assert_true(recmap_order_fill(order) == 0);
    assert_int_equal(recmap_order_left_out(order), recmap_order_element_count(order));
    MUST(recmap_order_pieces(&pieces, order, 0, NULL, 0, &error));
    MUST(recmap_order_prepare(order, 3, &error));
    assert_int_equal(recmap_order_pieces(&pieces, order, 0, &position, 1, &failure),
                     RECMAP_INVALID);
    assert_non_null(strstr(failure.advice, "has no rows"));
    assert_int_equal(recmap_order_at(&number, order, 0, &position, 1, &failure), RECMAP_INVALID);
    MUST_FAIL(RECMAP_NOT_FOUND, "the order is empty",
              recmap_order_position_of(&position, order, 0, 0, &error));
    free(description);
    recmap_pieces_deinit(&pieces);
    recmap_order_release(order);
}

/* Without elements there are no rows, whether there are no records, records of length zero, or too
 * few elements for one row where the rest is dropped. */
static void test_without_elements_there_are_no_rows(void **state) {
    (void)state;
    const uint64_t none[] = {0, 0, 0};
    recmap_chunked_options chunks = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packs = RECMAP_PACKED_OPTIONS_INIT;
    recmap_windows_options slices = RECMAP_WINDOWS_OPTIONS_INIT;
    chunks.size = 100;
    packs.size = slices.size = 10;
    packs.long_documents = RECMAP_LONG_DROP;
    chunks.add = packs.add = 1;
    for (size_t n = 0; n <= 3; n += 3) {
        check_empty(chunked(make_counts(none, n), &chunks));
        check_empty(packed(make_counts(none, n), &packs));
        check_empty(windows(make_counts(none, n), &slices));
    }
    check_empty(chunked(three(), &chunks));
    check_empty(windows(three(), &slices));
    packs.size = 4;
    check_empty(packed(three(), &packs));
}

/* Rows of one element, and of 2^40. */
static void test_rows_of_extreme_sizes_work(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, (uint64_t)1 << 31, RECMAP_ROW_SIZE_MAX};
    for (int i = 0; i < 3; i++) {
        recmap_chunked_options chunks = RECMAP_CHUNKED_OPTIONS_INIT;
        recmap_packed_options packs = RECMAP_PACKED_OPTIONS_INIT;
        chunks.size = packs.size = sizes[i];
        chunks.last = RECMAP_TAIL_PAD;
        recmap_order *orders[] = {chunked(three(), &chunks), packed(three(), &packs)};
        for (int o = 0; o < 2; o++) {
            assert_int_equal(recmap_order_count(orders[o]), i ? 1 : 14);
            check_rows(orders[o], 5);
            recmap_order_release(orders[o]);
        }
    }
}

/* Orders of records have no pieces, and a mixture refuses sources of both kinds or with rows of
 * different widths. */
static void test_orders_of_records_have_no_pieces(void **state) {
    (void)state;
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    recmap_order *plain = NULL, *rows = NULL, *wide = NULL, *mixture = NULL;
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    uint64_t position = 0;
    options.size = 2;
    rows = windows(three(), &options);
    options.size = 3;
    wide = windows(three(), &options);
    MUST(recmap_order_sequential(&plain, 5, &error));
    MUST_FAIL(RECMAP_INVALID, "over records",
              recmap_order_pieces(&pieces, plain, 0, &position, 1, &error));
    assert_int_equal(recmap_order_row_width(plain), 0);
    assert_int_equal(recmap_order_record_limit(plain), 5);
    recmap_order *mixed[] = {plain, rows}, *unequal[] = {rows, wide};
    const double weights[] = {1, 1};
    MUST_FAIL(RECMAP_INVALID, "source 1 of the mixture gives rows",
              recmap_order_mixture(&mixture, mixed, weights, 2, RECMAP_STOP_LAST, &error));
    MUST_FAIL(RECMAP_INVALID, "have one width",
              recmap_order_mixture(&mixture, unequal, weights, 2, RECMAP_STOP_LAST, &error));
    recmap_order_release(plain);
    recmap_order_release(rows);
    recmap_order_release(wide);
}

/* ---- Counts that change after the order was made, as bytes of an index can. */

struct changing_counts {
    recmap_counts base;
    uint64_t values[1000];
};

static void changing_destroy(recmap_counts *counts) {
    (void)counts;
}

static void changing_gather(uint64_t *values, const recmap_counts *counts, const uint64_t *records,
                            size_t count) {
    const struct changing_counts *changing = (const struct changing_counts *)counts;
    for (size_t i = 0; i < count; i++) values[i] = changing->values[records[i]];
}

static void changing_run(uint64_t *values, const recmap_counts *counts, uint64_t first,
                         size_t count) {
    const struct changing_counts *changing = (const struct changing_counts *)counts;
    memcpy(values, changing->values + first, count * sizeof *values);
}

static const struct counts_source changing_source = {changing_destroy, changing_gather,
                                                     changing_run};

static void init_changing(struct changing_counts *counts) {
    memset(counts, 0, sizeof *counts);
    counts->base.source = &changing_source;
    counts->base.record_count = 1000;
    atomic_init(&counts->base.references, 1);
    for (int i = 0; i < 1000; i++) counts->values[i] = (uint64_t)(i % 50);
    MUST(counts_complete(&counts->base, &error));
}

/* Rows are then wrong or refused, but always in bounds. */
static void check_changed(recmap_order *order, struct changing_counts *counts, uint64_t value) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    recmap_error failure = RECMAP_ERROR_INIT;
    uint64_t position = 0;
    MUST(recmap_order_pieces(&pieces, order, 0, &position, 1, &error));
    for (int i = 0; i < 1000; i++) counts->values[i] = value;
    size_t failures = 0;
    for (uint64_t epoch = 0; epoch < 2; epoch++)
        for (position = 0; position < recmap_order_count(order); position++) {
            recmap_status status =
                recmap_order_pieces(&pieces, order, epoch, &position, 1, &failure);
            if (status == RECMAP_OK) continue;
            assert_int_equal(status, RECMAP_CORRUPT);
            assert_non_null(strstr(failure.message, "have changed"));
            failures++;
        }
    if (value < 2) assert_true(failures > 0);
    recmap_pieces_deinit(&pieces);
    recmap_order_release(order);
}

/* Rows of each kind from counts that change after the order was created, to smaller and to larger
 * values. */
static void test_changed_counts_are_detected(void **state) {
    (void)state;
    const uint64_t values[] = {0, 1, 7, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        struct changing_counts counts;
        recmap_chunked_options chunks = RECMAP_CHUNKED_OPTIONS_INIT;
        recmap_packed_options packs = RECMAP_PACKED_OPTIONS_INIT;
        recmap_windows_options slices = RECMAP_WINDOWS_OPTIONS_INIT;
        chunks.size = packs.size = 64;
        slices.size = 8;
        chunks.add = packs.add = 1;
        init_changing(&counts);
        check_changed(chunked(recmap_counts_retain(&counts.base), &chunks), &counts, values[i]);
        init_changing(&counts);
        chunks.documents = RECMAP_DOCUMENTS_STORED;
        check_changed(chunked(recmap_counts_retain(&counts.base), &chunks), &counts, values[i]);
        init_changing(&counts);
        packs.group = 100;
        check_changed(packed(recmap_counts_retain(&counts.base), &packs), &counts, values[i]);
        init_changing(&counts);
        check_changed(windows(recmap_counts_retain(&counts.base), &slices), &counts, values[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunked_options_out_of_range_are_refused),
        cmocka_unit_test(test_packed_options_out_of_range_are_refused),
        cmocka_unit_test(test_window_options_out_of_range_are_refused),
        cmocka_unit_test(test_too_many_elements_are_refused),
        cmocka_unit_test(test_without_elements_there_are_no_rows),
        cmocka_unit_test(test_rows_of_extreme_sizes_work),
        cmocka_unit_test(test_orders_of_records_have_no_pieces),
        cmocka_unit_test(test_changed_counts_are_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
