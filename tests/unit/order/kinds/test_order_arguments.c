/* The arguments of orders: those that cannot be are refused, the extremes that can be work. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/permutation/random.h"
#include "check.h"
#include "make.h"
#include "support/sanitizers.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Counts above the limits, and zeros where at least one is needed, for each kind of order. Labels
 * are not read if there are too many, so NULL is enough. */
static void test_counts_out_of_range_are_refused(void **state) {
    (void)state;
    const uint64_t large = RECMAP_ORDER_COUNT_MAX + 1;
    recmap_order *order = NULL;
    MUST_FAIL(RECMAP_INVALID, "2^62", recmap_order_sequential(&order, large, &error));
    MUST_FAIL(RECMAP_INVALID, "2^62", recmap_order_shuffled(&order, UINT64_MAX, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "2^62", recmap_order_windowed(&order, large, 1, 1, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "block", recmap_order_windowed(&order, 5, 0, 1, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "window", recmap_order_windowed(&order, 5, 1, 0, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "2^62", recmap_order_with_replacement(&order, large, 1, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "2^62", recmap_order_with_replacement(&order, 5, 1, large, &error));
    MUST_FAIL(RECMAP_INVALID, "an empty data set",
              recmap_order_with_replacement(&order, 0, 1, 5, &error));
    MUST_FAIL(RECMAP_INVALID, "batch", recmap_order_grouped(&order, NULL, 0, 0, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "batch", recmap_order_stratified(&order, NULL, 0, 0, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "2^32",
              recmap_order_grouped(&order, NULL, (size_t)1 << 32, 1, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "2^32",
              recmap_order_stratified(&order, NULL, (size_t)1 << 32, 1, 1, &error));
    assert_null(order);
}

/* The largest orders work. */
static void test_the_largest_orders_work(void **state) {
    (void)state;
    const uint64_t max = RECMAP_ORDER_COUNT_MAX;
    recmap_order *orders[] = {sequential(max),
                              shuffled(max, 1),
                              windowed(max, 1000, 5, 1),
                              windowed(max - 1, 1 << 20, 1 << 20, 1),
                              windowed(max, max, max, 1),
                              windowed(max - 12345, UINT64_MAX, UINT64_MAX, 1)};
    for (size_t i = 0; i < COUNT(orders); i++) {
        uint64_t count = recmap_order_count(orders[i]);
        for (uint64_t j = 0; j < 200; j++) {
            uint64_t position = j < 3   ? j
                                : j < 6 ? count + 2 - j
                                        : random_below(random_word(1, j), count);
            uint64_t number, back;
            position = j == 3 ? count - 1 : position % count;
            MUST(recmap_order_at(&number, orders[i], 5, &position, 1, &error));
            MUST(recmap_order_position_of(&back, orders[i], 5, number, &error));
            assert_true(number < count && back == position);
        }
        recmap_order_release(orders[i]);
    }
}

/* Weights that are not numbers, negative, infinite or all zero, and mixtures that are empty, of too
 * many records or too uneven. The message names the first offender. */
static void test_impossible_weights_are_refused(void **state) {
    (void)state;
    const double bad[] = {NAN, -1, INFINITY, -INFINITY, -5e-324};
    recmap_order *order = NULL, *sources[] = {shuffled(3, 1), shuffled(0, 1), shuffled(4, 1)};
    recmap_order *good[] = {sources[0], sources[2]};
    for (size_t i = 0; i < COUNT(bad); i++) {
        double weights[] = {1, bad[i], 2};
        MUST_FAIL(RECMAP_INVALID, "record 1",
                  recmap_order_weighted(&order, weights, 3, 1, 0, &error));
        MUST_FAIL(RECMAP_INVALID, "source 1",
                  recmap_order_mixture(&order, good, weights, 2, RECMAP_STOP_FIRST, &error));
    }
    const double zeros[] = {0, 0, 0}, ones[] = {1, 1, 1};
    MUST_FAIL(RECMAP_INVALID, "all weights are 0",
              recmap_order_weighted(&order, zeros, 3, 1, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "all weights are 0",
              recmap_order_weighted(&order, zeros, 0, 1, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "all weights are 0",
              recmap_order_mixture(&order, good, zeros, 2, RECMAP_STOP_FIRST, &error));
    MUST_FAIL(RECMAP_INVALID, "source 1 of the mixture is empty",
              recmap_order_mixture(&order, sources, ones, 3, RECMAP_STOP_FIRST, &error));
    MUST_FAIL(RECMAP_INVALID, "at least one",
              recmap_order_mixture(&order, good, ones, 0, RECMAP_STOP_FIRST, &error));
    MUST_FAIL(RECMAP_INVALID, "at most",
              recmap_order_mixture(&order, good, ones, 5000, RECMAP_STOP_FIRST, &error));
    MUST_FAIL(RECMAP_INVALID, "invalid stop policy of a mixture: 7",
              recmap_order_mixture(&order, good, ones, 2, (recmap_stop)7, &error));
    recmap_order *large[] = {sequential(RECMAP_ORDER_COUNT_MAX), sequential(1)};
    MUST_FAIL(RECMAP_INVALID, "2^62",
              recmap_order_mixture(&order, large, ones, 2, RECMAP_STOP_LAST, &error));
    const double uneven[] = {1e-9, 1};
    recmap_order *half[] = {sequential(RECMAP_ORDER_COUNT_MAX / 2), sequential(1)};
    MUST_FAIL(RECMAP_INVALID, "an epoch of this mixture would have more than 2^62 positions",
              recmap_order_mixture(&order, half, uneven, 2, RECMAP_STOP_LAST, &error));
    for (size_t i = 0; i < 3; i++) recmap_order_release(sources[i]);
    for (size_t i = 0; i < 2; i++) recmap_order_release(large[i]);
    for (size_t i = 0; i < 2; i++) recmap_order_release(half[i]);
    assert_null(order);
}

static void test_impossible_changes_are_refused(void **state) {
    (void)state;
    recmap_order *order = NULL, *sources[] = {shuffled(3, 1), shuffled(4, 1)};
    const double ones[] = {1, 1}, left[] = {1, 0}, zeros[] = {0, 0}, bad[] = {1, NAN};
    recmap_mixture_options options = RECMAP_MIXTURE_OPTIONS_INIT;
    options.stop = RECMAP_STOP_LAST;
    const struct {
        const char *message;
        size_t count;
        recmap_mixture_change changes[3];
    } cases[] = {
        {"must be at position 0", 0, {{0, ones}}},
        {"must be at position 0", 1, {{1, ones}}},
        {"must ascend: 5 follows 5", 3, {{0, ones}, {5, ones}, {5, ones}}},
        {"must ascend: 4 follows 5", 3, {{0, ones}, {5, ones}, {4, ones}}},
        {"above 2^62", 2, {{0, ones}, {RECMAP_ORDER_COUNT_MAX + 1, ones}}},
        {"source 1 of the mixture is nan", 2, {{0, ones}, {5, bad}}},
        {"all weights are 0", 2, {{0, ones}, {5, zeros}}},
        {"source 1 of the mixture has weight 0 from position 2 on", 2, {{0, ones}, {2, left}}},
        {"source 1 of the mixture has weight 0 from position 2 on",
         3,
         {{0, ones}, {2, left}, {9, left}}},
        {"source 1 of the mixture has weight 0 from position 4 on",
         3,
         {{0, left}, {2, ones}, {4, left}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        MUST_FAIL(RECMAP_INVALID, cases[i].message,
                  recmap_order_blended(&order, sources, 2, cases[i].changes, cases[i].count,
                                       &options, &error));
    options.version++;
    MUST_FAIL(RECMAP_INVALID, "has version 2, expected 1",
              recmap_order_blended(&order, sources, 2, cases[0].changes, 1, &options, &error));
    for (size_t i = 0; i < 2; i++) recmap_order_release(sources[i]);
    assert_null(order);
}

/* Seventeen times the longest period. */
static void test_too_precise_changes(void **state) {
    (void)state;
    enum { CHANGES = 17, SOURCES = 5 };
    recmap_order *order = NULL, *sources[SOURCES];
    double weights[CHANGES][SOURCES];
    recmap_mixture_change changes[RECMAP_MIXTURE_CHANGES_MAX + 1];
    for (size_t i = 0; i < COUNT(changes); i++)
        changes[i] = (recmap_mixture_change){i, weights[i % CHANGES]};
    for (size_t i = 0; i < CHANGES * SOURCES; i++)
        weights[i / SOURCES][i % SOURCES] = sqrt(2 + (double)i);
    for (size_t i = 0; i < SOURCES; i++) sources[i] = shuffled(3 + i, i);
    if (is_long()) /* it takes ten seconds */
        MUST_FAIL(RECMAP_INVALID, "with 17 changes are too precise",
                  recmap_order_blended(&order, sources, SOURCES, changes, CHANGES, NULL, &error));
    MUST_FAIL(
        RECMAP_INVALID, "too many changes of weights: 4097; a mixture has at most 4096",
        recmap_order_blended(&order, sources, SOURCES, changes, COUNT(changes), NULL, &error));
    for (size_t i = 0; i < SOURCES; i++) recmap_order_release(sources[i]);
}

/* A mixture of `count` times `source`, which it takes over. */
static recmap_status mix_alike(recmap_order **order, recmap_order *source, size_t count,
                               recmap_error *error) {
    static recmap_order *sources[RECMAP_MIXTURE_SOURCES_MAX];
    static double weights[RECMAP_MIXTURE_SOURCES_MAX];
    for (size_t i = 0; i < count; i++) sources[i] = source, weights[i] = 1;
    recmap_status status =
        recmap_order_mixture(order, sources, weights, count, RECMAP_STOP_FIRST, error);
    recmap_order_release(source);
    return status;
}

/* Nests views, then mixtures, as deep as allowed. Every kind of order over the deepest one is
 * refused, and the deepest one still works. */
static void test_nesting_has_a_limit(void **state) {
    (void)state;
    for (int is_view = 0; is_view < 2; is_view++) {
        recmap_order *order = shuffled(3, 1), *next = NULL;
        for (int level = 2; level <= RECMAP_ORDER_DEPTH_MAX; level++) {
            if (is_view) MUST(recmap_order_view_range(&next, order, 0, 3, 1, &error));
            if (is_view) recmap_order_release(order);
            else MUST(mix_alike(&next, order, 1, &error));
            order = next;
        }
        const uint64_t list[] = {0, 1, 2};
        const uint8_t mask[] = {1, 1, 1};
        const double one = 1;
        MUST_FAIL(RECMAP_INVALID, "nested 9 levels deep; the limit is 8",
                  recmap_order_view_range(&next, order, 0, 3, 1, &error));
        MUST_FAIL(RECMAP_INVALID, "nested 9",
                  recmap_order_view_list(&next, order, list, 3, &error));
        MUST_FAIL(RECMAP_INVALID, "nested 9",
                  recmap_order_view_mask(&next, order, mask, 3, &error));
        MUST_FAIL(RECMAP_INVALID, "nested 9",
                  recmap_order_mixture(&next, &order, &one, 1, RECMAP_STOP_FIRST, &error));
        uint64_t numbers[3];
        MUST(recmap_order_read(numbers, order, 1, 0, 3, &error));
        assert_int_equal(numbers[0] + numbers[1] + numbers[2], 3);
        recmap_order_release(order);
    }
}

/* Every order that can be created can be described in a state. */
static void test_descriptions_have_a_limit(void **state) {
    (void)state;
    recmap_order *order = NULL, *refused = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    MUST(mix_alike(&order, shuffled(3, UINT64_MAX), RECMAP_MIXTURE_SOURCES_MAX, &error));
    size_t count = 1;
    for (recmap_status status = RECMAP_OK; status == RECMAP_OK; count++) {
        status = mix_alike(&refused, recmap_order_retain(order), count, NULL);
        if (status != RECMAP_OK) break;
        MUST(recmap_order_describe(&text, refused, &error));
        assert_true(text.size <= RECMAP_ORDER_DESCRIPTION_MAX);
        recmap_text_deinit(&text);
        recmap_order_release(refused);
    }
    refused = NULL;
    assert_true(count > 4 && count < 40);
    MUST_FAIL(RECMAP_INVALID, "would be longer than 4 MiB",
              mix_alike(&refused, recmap_order_retain(order), RECMAP_MIXTURE_SOURCES_MAX, &error));
    assert_null(refused);
    recmap_order_release(order);
}

/* As small as the stacks of threads with some C libraries. */
static void *run_nested(void *order) {
    static uint64_t numbers[4096];
    recmap_error wrong = RECMAP_ERROR_INIT;
    size_t count = (size_t)recmap_order_count(order);
    if (count > 4096) count = 4096;
    return recmap_order_read(numbers, order, 3, 0, count, &wrong) == RECMAP_OK ? NULL : order;
}

static void test_nested_mixtures_on_a_small_stack(void **state) {
    (void)state;
    if (has_address_sanitizer || has_thread_sanitizer) skip();
    recmap_order *order = shuffled(1000, 1);
    for (int level = 2; level <= RECMAP_ORDER_DEPTH_MAX; level++)
        MUST(mix_alike(&order, order, 2, &error));
    pthread_attr_t small;
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 128 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, run_nested, order), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    pthread_attr_destroy(&small);
    recmap_order_release(order);
}

/* Bounds that do not ascend, lengths that are negative or above the budget, and sizes that
 * contradict each other. Labels at both ends of int64 are fine, and form groups like others. */
static void test_impossible_groups_are_refused(void **state) {
    (void)state;
    const int64_t lengths[] = {5, -1, 7}, fine[] = {5, 1, 7}, bounds[] = {3, 3}, down[] = {3, 2};
    recmap_order *order = NULL;
    const recmap_bucket_size both = {1, 1}, none = {0, 0}, two = {2, 0}, six = {0, 6};
    MUST_FAIL(RECMAP_INVALID, "either",
              recmap_order_bucketed(&order, fine, 3, bounds, 1, both, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "either",
              recmap_order_bucketed(&order, fine, 3, bounds, 1, none, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "record 1: -1",
              recmap_order_bucketed(&order, lengths, 3, bounds, 1, two, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "record 2 has 7 tokens",
              recmap_order_bucketed(&order, fine, 3, bounds, 1, six, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "bound 1 (3)",
              recmap_order_bucketed(&order, fine, 3, bounds, 2, two, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "bound 1 (2)",
              recmap_order_bucketed(&order, fine, 3, down, 2, two, 1, &error));
    assert_null(order);
    const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, INT64_MIN};
    MUST(recmap_order_grouped(&order, extremes, 4, UINT64_MAX, 1, &error));
    assert_int_equal(recmap_order_batch_count(order), 3);
    check_once(order);
    MUST(recmap_order_stratified(&order, extremes, 4, UINT64_MAX, 1, &error));
    assert_int_equal(recmap_order_batch_count(order), 1);
    check_once(order);
}

/* Ranges that leave [0, 2^62) in either direction, also by overflow, and lists and masks whose
 * length or numbers do not fit. The last range that fits is accepted. */
static void test_impossible_views_are_refused(void **state) {
    (void)state;
    const uint64_t max = RECMAP_ORDER_COUNT_MAX, list[] = {1, max, 3};
    const uint8_t mask[] = {1, 0, 1, 0};
    recmap_order *base = shuffled(3, 1), *order = NULL;
    MUST_FAIL(RECMAP_INVALID, "step", recmap_order_view_range(&order, base, 0, 3, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "covers 3 records",
              recmap_order_view_range(&order, base, 0, 2, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "leaves", recmap_order_view_range(&order, base, 1, 3, -1, &error));
    MUST_FAIL(RECMAP_INVALID, "leaves", recmap_order_view_range(&order, base, max, 3, -1, &error));
    MUST_FAIL(RECMAP_INVALID, "leaves",
              recmap_order_view_range(&order, base, max - 2, 3, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "leaves",
              recmap_order_view_range(&order, base, 0, 3, INT64_MAX, &error));
    MUST_FAIL(RECMAP_INVALID, "leaves",
              recmap_order_view_range(&order, base, max - 1, 3, INT64_MIN, &error));
    MUST_FAIL(RECMAP_INVALID, "leaves",
              recmap_order_view_range(&order, base, 0, UINT64_MAX, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "item 1", recmap_order_view_list(&order, base, list, 3, &error));
    MUST_FAIL(RECMAP_INVALID, "covers 3 records",
              recmap_order_view_list(&order, base, list, 2, &error));
    MUST_FAIL(RECMAP_INVALID, "2 record", recmap_order_view_mask(&order, base, mask, 4, &error));
    assert_null(order);
    MUST(recmap_order_view_range(&order, base, max - 3, 3, 1, &error));
    assert_true(recmap_order_number_limit(order) == max);
    check_inverse(order, 0);
    recmap_order_release(order);
    recmap_order_release(base);
}

/* Positions, records, batches and epochs that are out of range. Outputs must be left alone then,
 * which the value 77 shows. */
static void test_positions_out_of_range_are_refused(void **state) {
    (void)state;
    recmap_order *order = shuffled(300, 1), *draws = NULL, *groups = grouped(30, 3, 4, 1);
    const uint64_t positions[] = {0, 300}, far = UINT64_MAX;
    uint64_t numbers[] = {77, 77}, first = 77, count = 77;
    MUST_FAIL(RECMAP_INVALID, "position 300 is out of range: an epoch has 300 positions",
              recmap_order_at(numbers, order, 0, positions, 2, &error));
    MUST_FAIL(RECMAP_INVALID, "position 18446744073709551615",
              recmap_order_at(numbers, order, 0, &far, 1, &error));
    MUST_FAIL(RECMAP_INVALID, "position 300", recmap_order_read(numbers, order, 0, 299, 2, &error));
    MUST_FAIL(RECMAP_INVALID, "position",
              recmap_order_read(numbers, order, 0, UINT64_MAX, 2, &error));
    assert_true(numbers[0] == 77 && numbers[1] == 77);
    MUST_FAIL(RECMAP_NOT_FOUND, "record 300",
              recmap_order_position_of(&first, order, 0, 300, &error));
    MUST_FAIL(RECMAP_INVALID, "does not form batches",
              recmap_order_batch(&first, &count, order, 0, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "does not form batches",
              recmap_order_batch_of(&first, order, 0, 0, &error));
    MUST_FAIL(RECMAP_INVALID, "batch 99",
              recmap_order_batch(&first, &count, groups, 0, 99, &error));
    MUST_FAIL(RECMAP_INVALID, "position 30", recmap_order_batch_of(&first, groups, 0, 30, &error));
    MUST(recmap_order_with_replacement(&draws, 5, 1, 0, &error));
    assert_int_equal(recmap_order_count(draws), 5);
    MUST_FAIL(RECMAP_INVALID, "can occur more than once",
              recmap_order_position_of(&first, draws, 0, 1, &error));
    assert_true(first == 77 && count == 77);
    recmap_order_release(order);
    recmap_order_release(draws);
    recmap_order_release(groups);
    recmap_order *sources[] = {sequential(1 << 20)};
    const double one = 1;
    recmap_order *mixture = mixed(sources, &one, 1, RECMAP_STOP_FIRST);
    MUST(recmap_order_read(numbers, mixture, ((uint64_t)1 << 43) - 1, 5, 1, &error));
    assert_int_equal(numbers[0], 5);
    MUST_FAIL(RECMAP_INVALID, "2^63",
              recmap_order_read(numbers, mixture, (uint64_t)1 << 43, 5, 1, &error));
    recmap_order_release(mixture);
}

/* Orders of no records: nothing is at any position, nothing can be found, and a run of zero
 * positions succeeds. */
static void test_empty_orders_have_no_positions(void **state) {
    (void)state;
    recmap_order *orders[] = {sequential(0),
                              shuffled(0, 1),
                              windowed(0, 5, 5, 1),
                              grouped(0, 3, 4, 1),
                              stratified(0, 3, 4, 1),
                              NULL,
                              NULL};
    MUST(recmap_order_view_range(&orders[5], orders[0], 7, 0, 1, &error));
    MUST(recmap_order_view_list(&orders[6], orders[1], NULL, 0, &error));
    for (size_t i = 0; i < COUNT(orders); i++) {
        uint64_t number;
        assert_int_equal(recmap_order_count(orders[i]), 0);
        assert_int_equal(recmap_order_number_limit(orders[i]), 0);
        assert_int_equal(recmap_order_batch_count(orders[i]), 0);
        MUST(recmap_order_at(&number, orders[i], 0, NULL, 0, &error));
        MUST(recmap_order_read(&number, orders[i], 0, 0, 0, &error));
        MUST_FAIL(RECMAP_INVALID, "position 0",
                  recmap_order_read(&number, orders[i], 0, 0, 1, &error));
        MUST_FAIL(RECMAP_NOT_FOUND, "record 0",
                  recmap_order_position_of(&number, orders[i], 0, 0, &error));
        free(describe(orders[i]));
    }
    for (size_t i = 0; i < COUNT(orders); i++) recmap_order_release(orders[i]);
    recmap_order_release(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_out_of_range_are_refused),
        cmocka_unit_test(test_the_largest_orders_work),
        cmocka_unit_test(test_impossible_weights_are_refused),
        cmocka_unit_test(test_impossible_changes_are_refused),
        cmocka_unit_test(test_too_precise_changes),
        cmocka_unit_test(test_impossible_groups_are_refused),
        cmocka_unit_test(test_nesting_has_a_limit),
        cmocka_unit_test(test_descriptions_have_a_limit),
        cmocka_unit_test(test_nested_mixtures_on_a_small_stack),
        cmocka_unit_test(test_impossible_views_are_refused),
        cmocka_unit_test(test_positions_out_of_range_are_refused),
        cmocka_unit_test(test_empty_orders_have_no_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
