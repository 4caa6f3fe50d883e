/* What every kind of order must hold, and what draws, windows and views promise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "check.h"
#include "make.h"
#include "order/kinds/alias.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Orders that have each record once an epoch. */

static void test_each_record_once(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 700; n = n * 3 / 2 + 1) {
        check_once(sequential(n));
        check_once(shuffled(n, n));
        for (uint64_t block = 1; block < 2 * n; block = block * 3 + 1)
            for (uint64_t window = 1; window < 40; window = window * 3 + 2)
                check_once(windowed(n, block, window, n));
        for (uint64_t classes = 1; classes <= n; classes *= 5)
            for (uint64_t batch = 1; batch < 2 * n; batch = batch * 4 + 3) {
                check_once(grouped(n, classes, batch, n));
                check_once(stratified(n, classes, batch, n));
            }
    }
}

static void test_400_records_are_shuffled_by_seed_and_epoch(void **state) {
    (void)state;
    recmap_order *order = shuffled(400, 42), *same = shuffled(400, 42), *other = shuffled(400, 43);
    uint64_t *a = whole_epoch(order, 0), *b = whole_epoch(order, 1), *c = whole_epoch(same, 0);
    uint64_t *d = whole_epoch(other, 0);
    assert_true(is_permutation(a, 400, 400) && is_permutation(b, 400, 400));
    assert_memory_equal(a, c, 400 * sizeof *a);
    assert_memory_not_equal(a, b, 400 * sizeof *a);
    assert_memory_not_equal(a, d, 400 * sizeof *a);
    /* The next epoch is not the next seed. */
    assert_memory_not_equal(b, d, 400 * sizeof *b);
    free(a);
    free(b);
    free(c);
    free(d);
    recmap_order_release(order);
    recmap_order_release(same);
    recmap_order_release(other);
    check_once(shuffled(400, UINT64_MAX));
    check_once(shuffled(400, (uint64_t)1 << 32));
}

static void expect_repeats(recmap_order *order, int repeats) {
    assert_int_equal(recmap_order_repeats(order), repeats);
    recmap_order_release(order);
}

/* Orders in which the position counts for random images. */
static void test_orders_that_may_hold_a_record_twice(void **state) {
    (void)state;
    recmap_order *drawn, *source = sequential(9);
    const double weight = 1;
    expect_repeats(sequential(9), 0);
    expect_repeats(shuffled(9, 1), 0);
    expect_repeats(windowed(9, 2, 3, 1), 0);
    expect_repeats(grouped(9, 3, 2, 1), 0);
    expect_repeats(stratified(9, 3, 2, 1), 0);
    expect_repeats(listed(shuffled(9, 1), 5), 1);
    expect_repeats(mixed(&source, &weight, 1, RECMAP_STOP_FIRST), 1);
    assert_int_equal(recmap_order_with_replacement(&drawn, 9, 1, 5, NULL), RECMAP_OK);
    expect_repeats(drawn, 1);
    assert_int_equal(recmap_order_weighted(&drawn, &weight, 1, 1, 5, NULL), RECMAP_OK);
    expect_repeats(drawn, 1);
}

static void test_kept_groups_and_others(void **state) {
    (void)state;
    /* More groups than a stratified order keeps permutations for, of one record and of two. */
    check_once(stratified(20000, 1000000000, 100, 1));
    int64_t *labels = make_array(40000, sizeof *labels);
    for (int64_t i = 0; i < 40000; i++) labels[i] = i % 20000;
    recmap_order *order = NULL;
    MUST(recmap_order_stratified(&order, labels, 40000, 64, 1, &error));
    check_once(order);
    free(labels);
}

/* ---- Windowed. */

/* The records of a window come from few blocks, each of them whole; blocks and insides change. */
static void check_windows(uint64_t n, uint64_t block, uint64_t window) {
    recmap_order *order = windowed(n, block, window, 4);
    uint64_t *whole = whole_epoch(order, 0), *next = whole_epoch(order, 1);
    bool *is_open = make_array(n / block + 1, sizeof *is_open);
    uint64_t at = 0, moved = 0;
    while (at < n) {
        uint64_t size = 0, end = at;
        memset(is_open, 0, n / block + 1);
        for (uint64_t blocks = 0; end < n && (end < at + size || blocks < window); end++) {
            uint64_t b = whole[end] / block;
            if (is_open[b]) continue;
            is_open[b] = true;
            blocks++;
            size += b == n / block ? n % block : block;
            assert_true(blocks <= window);
        }
        assert_int_equal(end - at, size);
        at = end;
    }
    for (uint64_t i = 0; i < n; i++) moved += whole[i] != next[i];
    assert_true(n < 20 || moved > n / 2);
    free(is_open);
    free(next);
    free(whole);
    recmap_order_release(order);
}

static void test_windows_bound_distances(void **state) {
    (void)state;
    static const uint64_t cases[][3] = {{400, 10, 1}, {400, 1, 10},  {30, 10, 1}, {30, 4, 1},
                                        {25, 10, 1},  {25, 10, 2},   {25, 1, 10}, {1000, 7, 13},
                                        {1001, 7, 5}, {999, 100, 3}, {10, 20, 30}};
    for (size_t i = 0; i < COUNT(cases); i++) check_windows(cases[i][0], cases[i][1], cases[i][2]);
}

/* ---- Draws. */

/* Draws follow the weights, and draws at even positions are independent of those at odd
 * positions. */
static void check_draws(recmap_order *order, const double *weights, size_t n) {
    size_t draws = recmap_order_count(order);
    uint64_t *whole = whole_epoch(order, 2);
    uint64_t *counts = make_array(n, sizeof *counts), *pairs = make_array(n * n, sizeof *pairs);
    double *expected = make_array(n, sizeof *expected), sum = 0;
    double *expected_pairs = make_array(n * n, sizeof *expected_pairs);
    for (size_t i = 0; i < draws; i++) counts[whole[i]]++;
    for (size_t i = 0; i + 1 < draws; i += 2) pairs[whole[i] * n + whole[i + 1]]++;
    for (size_t i = 0; i < n; i++) sum += weights[i];
    for (size_t i = 0; i < n; i++) {
        expected[i] = (double)draws * weights[i] / sum;
        if (weights[i] == 0) assert_int_equal(counts[i], 0);
        for (size_t j = 0; j < n; j++)
            expected_pairs[i * n + j] = (double)(draws / 2) * weights[i] * weights[j] / sum / sum;
    }
    if (chi_square_z(counts, expected, n) > 5 || chi_square_z(pairs, expected_pairs, n * n) > 5)
        fail_msg("%zu weights: z = %.1f, pairs %.1f", n, chi_square_z(counts, expected, n),
                 chi_square_z(pairs, expected_pairs, n * n));
    free(whole);
    free(counts);
    free(pairs);
    free(expected);
    free(expected_pairs);
    check_access(order, 1);
    recmap_order_release(order);
}

/* Draws from equal and from rising weights, and from weights that are mostly zero: the frequencies
 * must match the weights, and a weight of zero is never drawn. */
static void test_draws_follow_the_weights(void **state) {
    (void)state;
    enum { DRAWS = 40000 };
    double even[41], slope[41], with_zeros[] = {0, 1, 0, 0, 2, 3, 0}, one[] = {0, 0, 1};
    for (int i = 0; i < 41; i++) {
        even[i] = 1;
        slope[i] = i;
    }
    for (size_t n = 1; n <= 40; n += 13) {
        recmap_order *order = NULL;
        MUST(recmap_order_with_replacement(&order, n, 1, DRAWS, &error));
        check_draws(order, even, n);
        MUST(recmap_order_weighted(&order, even, n, 1, DRAWS, &error));
        check_draws(order, even, n);
        MUST(recmap_order_weighted(&order, slope, n + 1, 1, DRAWS, &error));
        check_draws(order, slope, n + 1);
    }
    recmap_order *order = NULL;
    MUST(recmap_order_weighted(&order, with_zeros, 7, 1, DRAWS, &error));
    check_draws(order, with_zeros, 7);
    MUST(recmap_order_weighted(&order, one, 3, 1, 100, &error));
    check_draws(order, one, 3);
}

/* The areas that the table gives an index are its weight's share, exactly: 0 stays 0, no other
 * becomes 0, and none is off by more than rounding the scaled weights makes it. */
static void check_table(const double *weights, size_t n) {
    struct alias_table table;
    MUST(alias_init(&table, weights, n, &error));
    const uint64_t whole = (uint64_t)1 << table.height_bits;
    uint64_t *areas = make_array(n, sizeof *areas), total = 0;
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(table.columns[i].threshold <= whole && table.columns[i].other < n);
        areas[i] += table.columns[i].threshold;
        areas[table.columns[i].other] += whole - table.columns[i].threshold;
        sum += weights[i];
    }
    for (size_t i = 0; i < n; i++) {
        long double share = (long double)n * (long double)whole * weights[i] / sum;
        long double room = 2 + 2.0L * n + 2.0L * n * share / (long double)whole;
        assert_true((areas[i] == 0) == (weights[i] == 0));
        assert_true(fabsl((long double)areas[i] - share) <= room);
        total += areas[i];
    }
    assert_true(total == n * whole);
    free(areas);
    alias_deinit(&table);
}

static void test_alias_tables_are_exact(void **state) {
    (void)state;
    enum { LIMIT = 300 };
    double weights[LIMIT];
    for (uint64_t round = 0; round < (is_long() ? 20000 : 1000); round++) {
        size_t n = 1 + random_below(random_word(1, round), LIMIT);
        for (size_t i = 0; i < n; i++) {
            uint64_t word = random_word(round, i);
            weights[i] = word % 4 == round % 4 ? 0 : (double)(word >> 40);
            if (round % 3 == 1) weights[i] = ldexp(weights[i], (int)(word % 2000) - 1060);
            if (round % 3 == 2) weights[i] = (double)(word % 3);
        }
        weights[n / 2] = 1;
        check_table(weights, n);
    }
}

/* ---- Views and what is made of them. */

/* Views of views, of grouped and windowed orders and of mixtures: random access must equal the
 * whole epoch, and positions must be found again. */
static void test_views_compose(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 20; round++) {
        uint64_t n = 1 + 7 * round;
        recmap_order *order = listed(listed(shuffled(n, round), round), round + 1);
        check_access(order, round);
        check_inverse(order, round);
        recmap_order_release(order);
        order = listed(windowed(n, 3, 2, round), round);
        check_access(order, round);
        check_inverse(order, round);
        recmap_order_release(order);
        order = listed(grouped(n, 3, 4, round), round);
        assert_true(recmap_order_batch_count(order) > 0);
        check_access(order, round);
        check_inverse(order, round);
        recmap_order_release(order);
        recmap_order *sources[] = {listed(shuffled(n, 1), 1), stratified(n + 5, 2, 3, 1),
                                   listed(windowed(n + 9, 2, 2, 1), 4)};
        const double weights[] = {3, 1, 2};
        order = mixed(sources, weights, 3, RECMAP_STOP_LAST);
        assert_int_equal(recmap_order_batch_count(order), 0);
        check_access(order, round);
        order = listed(order, 8);
        check_access(order, round);
        recmap_order_release(order);
    }
}

/* A view's epoch is the base's with numbers replaced. */
static void test_views_replace_numbers(void **state) {
    (void)state;
    recmap_order *base = shuffled(50, 1), *range = NULL, *down = NULL, *mask = NULL;
    uint8_t bytes[200];
    uint64_t selected[50], count = 0;
    for (uint64_t i = 0; i < 200; i++) {
        bytes[i] = i % 4 == 1 ? 2 : 0;
        if (bytes[i]) selected[count++] = i;
    }
    MUST(recmap_order_view_range(&range, base, 1000, 50, 3, &error));
    MUST(recmap_order_view_range(&down, base, 490, 50, -10, &error));
    MUST(recmap_order_view_mask(&mask, base, bytes, 200, &error));
    uint64_t *b = whole_epoch(base, 3), *r = whole_epoch(range, 3), *d = whole_epoch(down, 3);
    uint64_t *m = whole_epoch(mask, 3), position;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(r[i], 1000 + 3 * b[i]);
        assert_int_equal(d[i], 490 - 10 * b[i]);
        assert_int_equal(m[i], selected[b[i]]);
    }
    check_inverse(range, 3);
    check_inverse(down, 3);
    check_inverse(mask, 3);
    const uint64_t absent[] = {0, 999, 1001, 1150, 5000, UINT64_MAX};
    for (size_t i = 0; i < COUNT(absent); i++)
        MUST_FAIL(RECMAP_NOT_FOUND,
                  absent[i] < 1148 ? "does not occur" : "out of range: the order has only numbers",
                  recmap_order_position_of(&position, range, 0, absent[i], &error));
    MUST_FAIL(RECMAP_NOT_FOUND, "record 495 ",
              recmap_order_position_of(&position, down, 0, 495, &error));
    MUST_FAIL(RECMAP_NOT_FOUND, "record 2 ",
              recmap_order_position_of(&position, mask, 0, 2, &error));
    free(b);
    free(r);
    free(d);
    free(m);
    recmap_order_release(range);
    recmap_order_release(down);
    recmap_order_release(mask);
    recmap_order_release(base);
}

static void test_repeated_numbers_have_no_one_position(void **state) {
    (void)state;
    const uint64_t list[] = {7, 3, 7, 9};
    recmap_order *base = shuffled(4, 1), *order = NULL;
    uint64_t position = 77;
    MUST(recmap_order_view_list(&order, base, list, 4, &error));
    MUST(recmap_order_position_of(&position, order, 0, 9, &error));
    position = 77;
    MUST_FAIL(RECMAP_INVALID, "record 7 occurs more than once",
              recmap_order_position_of(&position, order, 0, 7, &error));
    assert_int_equal(position, 77);
    recmap_order_release(order);
    recmap_order_release(base);
}

/* ---- Descriptions. */

static void check_same(recmap_order *a, recmap_order *b, bool is_same) {
    char *x = describe(a), *y = describe(b);
    if (!strcmp(x, y) != is_same) fail_msg("%s\n%s", x, y);
    free(x);
    free(y);
    recmap_order_release(a);
    recmap_order_release(b);
}

static recmap_order *weighted(double first) {
    const double weights[] = {first, 2, 3};
    recmap_order *order = NULL;
    MUST(recmap_order_weighted(&order, weights, 3, 1, 0, &error));
    return order;
}

/* A state refuses another order by its description. So orders that differ in any parameter must
 * have different descriptions, and equal ones equal descriptions. */
static void test_different_orders_have_different_descriptions(void **state) {
    (void)state;
    recmap_order *order = shuffled((uint64_t)1 << 62, UINT64_MAX);
    char *text = describe(order);
    assert_string_equal(text, "{\"kind\":\"shuffled\",\"n\":4611686018427387904,"
                              "\"seed\":18446744073709551615}");
    free(text);
    recmap_order_release(order);
    check_same(shuffled(5, 1), shuffled(5, 1), true);
    check_same(shuffled(5, 1), shuffled(5, 2), false);
    check_same(shuffled(5, 1), shuffled(6, 1), false);
    check_same(sequential(5), windowed(5, 1, 1, 0), false);
    check_same(windowed(5, 1, 2, 3), windowed(5, 2, 1, 3), false);
    check_same(weighted(1), weighted(1), true);
    check_same(weighted(1), weighted(1.5), false);
    check_same(grouped(50, 3, 4, 1), grouped(50, 3, 4, 1), true);
    check_same(grouped(50, 3, 4, 1), grouped(50, 4, 4, 1), false);
    check_same(grouped(50, 3, 4, 1), stratified(50, 3, 4, 1), false);
    check_same(listed(shuffled(9, 1), 5), listed(shuffled(9, 1), 5), true);
    check_same(listed(shuffled(9, 1), 5), listed(shuffled(9, 1), 6), false);
    check_same(listed(shuffled(9, 1), 5), listed(shuffled(9, 2), 5), false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_record_once),
        cmocka_unit_test(test_400_records_are_shuffled_by_seed_and_epoch),
        cmocka_unit_test(test_orders_that_may_hold_a_record_twice),
        cmocka_unit_test(test_kept_groups_and_others),
        cmocka_unit_test(test_windows_bound_distances),
        cmocka_unit_test(test_draws_follow_the_weights),
        cmocka_unit_test(test_alias_tables_are_exact),
        cmocka_unit_test(test_views_compose),
        cmocka_unit_test(test_views_replace_numbers),
        cmocka_unit_test(test_repeated_numbers_have_no_one_position),
        cmocka_unit_test(test_different_orders_have_different_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
