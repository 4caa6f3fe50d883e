/* What every kind of order must hold, and what each promises. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "make.h"
#include "order/alias.h"
#include "permutation/random.h"

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

static void test_400_records(void **state) {
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

static void test_windows(void **state) {
    (void)state;
    static const uint64_t cases[][3] = {{400, 10, 1}, {400, 1, 10},  {30, 10, 1}, {30, 4, 1},
                                        {25, 10, 1},  {25, 10, 2},   {25, 1, 10}, {1000, 7, 13},
                                        {1001, 7, 5}, {999, 100, 3}, {10, 20, 30}};
    for (size_t i = 0; i < COUNT(cases); i++) check_windows(cases[i][0], cases[i][1], cases[i][2]);
}

/* ---- Draws. */

static double chi_z(const uint64_t *counts, const double *expected, size_t count) {
    double chi = 0, freedom = -1;
    for (size_t i = 0; i < count; i++) {
        if (expected[i] == 0) continue;
        chi += ((double)counts[i] - expected[i]) * ((double)counts[i] - expected[i]) / expected[i];
        freedom++;
    }
    return freedom < 1 ? 0 : (chi - freedom) / sqrt(2 * freedom);
}

/* Draws go by the weights, and those of even positions have nothing to do with the odd ones. */
static void check_draws(recmap_order *order, const double *weights, size_t n) {
    size_t draws = recmap_order_count(order);
    uint64_t *whole = whole_epoch(order, 2);
    uint64_t *found = make_array(n, sizeof *found), *pairs = make_array(n * n, sizeof *pairs);
    double *expected = make_array(n, sizeof *expected), sum = 0;
    double *expected_pairs = make_array(n * n, sizeof *expected_pairs);
    for (size_t i = 0; i < draws; i++) found[whole[i]]++;
    for (size_t i = 0; i + 1 < draws; i += 2) pairs[whole[i] * n + whole[i + 1]]++;
    for (size_t i = 0; i < n; i++) sum += weights[i];
    for (size_t i = 0; i < n; i++) {
        expected[i] = (double)draws * weights[i] / sum;
        if (weights[i] == 0) assert_int_equal(found[i], 0);
        for (size_t j = 0; j < n; j++)
            expected_pairs[i * n + j] = (double)(draws / 2) * weights[i] * weights[j] / sum / sum;
    }
    if (chi_z(found, expected, n) > 5 || chi_z(pairs, expected_pairs, n * n) > 5)
        fail_msg("%zu weights: z = %.1f, pairs %.1f", n, chi_z(found, expected, n),
                 chi_z(pairs, expected_pairs, n * n));
    free(whole);
    free(found);
    free(pairs);
    free(expected);
    free(expected_pairs);
    check_access(order, 1);
    recmap_order_release(order);
}

/* Draws from equal and from rising weights, and from weights that are mostly zero: the frequencies
 * must match the weights, and a weight of zero is never drawn. */
static void test_draws(void **state) {
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
    MUST(alias_create(&table, weights, n, &error));
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
    alias_destroy(&table);
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

/* ---- Mixtures. */

/* Every prefix has each source within 1 of its share, and each source keeps its own order. */
static void check_mixture(recmap_order *const *sources, const double *weights, size_t count,
                          recmap_stop stop, uint64_t positions) {
    recmap_order *order = NULL;
    MUST(recmap_order_mixture(&order, sources, weights, count, stop, &error));
    uint64_t *drawn = make_array(count, sizeof *drawn),
             *first = make_array(count + 1, sizeof *first);
    uint64_t size = recmap_order_count(order);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += weights[i];
        first[i + 1] = first[i] + recmap_order_number_limit(sources[i]);
    }
    for (uint64_t g = 0; g < positions; g++) {
        uint64_t number, expected;
        size_t source = 0;
        MUST(recmap_order_at(&number, order, g / size, &(uint64_t){g % size}, 1, &error));
        while (number >= first[source + 1]) source++;
        uint64_t own = recmap_order_count(sources[source]), k = drawn[source]++;
        MUST(recmap_order_at(&expected, sources[source], k / own, &(uint64_t){k % own}, 1, &error));
        assert_int_equal(number, first[source] + expected);
        for (size_t i = 0; i < count; i++) {
            double share = (double)(g + 1) * weights[i] / sum;
            if (fabs((double)drawn[i] - share) > 1 + 1e-6 * share)
                fail_msg("source %zu: %llu of the first %llu", i, (unsigned long long)drawn[i],
                         (unsigned long long)g + 1);
        }
    }
    free(drawn);
    free(first);
    recmap_order_release(order);
}

static void test_mixtures_in_exact_shares(void **state) {
    (void)state;
    enum { LIMIT = 12 };
    for (uint64_t round = 0; round < (is_long() ? 3000 : 200); round++) {
        recmap_order *sources[LIMIT];
        double weights[LIMIT];
        size_t count = 1 + random_below(random_word(round, 0), LIMIT);
        for (size_t i = 0; i < count; i++) {
            sources[i] = shuffled(1 + random_below(random_word(round, 10 + i), 30), i);
            weights[i] = (double)(1 + random_below(random_word(round, 50 + i), 1 << round % 7)) / 8;
        }
        check_mixture(sources, weights, count, (recmap_stop)(round & 1), 300);
        for (size_t i = 0; i < count; i++) recmap_order_release(sources[i]);
    }
}

/* ---- Mixtures whose weights change. */

enum { BLEND_SOURCES = 5, BLEND_CHANGES = 6, BLEND_POSITIONS = 400 };

struct random_blend {
    size_t source_count, change_count;
    recmap_order *sources[BLEND_SOURCES];
    double weights[BLEND_CHANGES][BLEND_SOURCES];
    recmap_mixture_change changes[BLEND_CHANGES];
};

static void make_random_blend(struct random_blend *blend, uint64_t round) {
    blend->source_count = 1 + random_below(random_word(round, 0), BLEND_SOURCES);
    blend->change_count = 1 + random_below(random_word(round, 1), BLEND_CHANGES);
    for (size_t i = 0; i < blend->source_count; i++)
        blend->sources[i] = shuffled(1 + random_below(random_word(round, 10 + i), 30), i);
    uint64_t position = 0;
    for (size_t k = 0; k < blend->change_count; k++) {
        for (size_t i = 0; i < blend->source_count; i++)
            blend->weights[k][i] = (double)random_below(random_word(round, 100 * k + 20 + i), 6);
        blend->weights[k][k % blend->source_count] += 1;
        if (!k) /* every source is used */
            for (size_t i = 0; i < blend->source_count; i++) blend->weights[k][i] += 0.25;
        blend->changes[k] = (recmap_mixture_change){position, blend->weights[k]};
        position += 1 + random_below(random_word(round, 100 * k + 50), 60);
    }
}

static double weight_sum(const struct random_blend *blend, size_t change) {
    double sum = 0;
    for (size_t i = 0; i < blend->source_count; i++) sum += blend->weights[change][i];
    return sum;
}

/* Whether each source has its exact share of the `t` positions since a change. */
static void check_shares(const struct random_blend *blend, size_t change, const uint64_t *drawn,
                         uint64_t t) {
    for (size_t i = 0; i < blend->source_count; i++) {
        double share = (double)t * blend->weights[change][i] / weight_sum(blend, change);
        if (fabs((double)drawn[i] - share) >= 1)
            fail_msg("source %zu: %llu of the first %llu after change %zu", i,
                     (unsigned long long)drawn[i], (unsigned long long)t, change);
    }
}

static void check_blend(const struct random_blend *blend, const recmap_order *order) {
    uint64_t drawn[BLEND_SOURCES] = {0}, since[BLEND_SOURCES] = {0}, start = 0;
    uint64_t size = recmap_order_count(order);
    size_t change = 0;
    for (uint64_t g = 0; g < BLEND_POSITIONS; g++) {
        if (change + 1 < blend->change_count && blend->changes[change + 1].position == g) {
            memset(since, 0, sizeof since);
            start = g;
            change++;
        }
        uint64_t number, expected, first = 0;
        size_t source = 0;
        MUST(recmap_order_at(&number, order, g / size, &(uint64_t){g % size}, 1, &error));
        while (number >= first + recmap_order_number_limit(blend->sources[source]))
            first += recmap_order_number_limit(blend->sources[source++]);
        const recmap_order *of = blend->sources[source];
        uint64_t k = drawn[source]++, own = recmap_order_count(of);
        MUST(recmap_order_at(&expected, of, k / own, &(uint64_t){k % own}, 1, &error));
        assert_int_equal(number, first + expected);
        since[source]++;
        check_shares(blend, change, since, g + 1 - start);
    }
    check_access(order, 0);
    check_access(order, 2);
}

static void test_weights_that_change(void **state) {
    (void)state;
    for (uint64_t round = 0; round < (is_long() ? 3000 : 150); round++) {
        struct random_blend blend;
        recmap_order *order = NULL;
        make_random_blend(&blend, round);
        recmap_mixture_options options = RECMAP_MIXTURE_OPTIONS_INIT;
        if (round % 3) options.length = 1 + random_below(random_word(round, 5), 90);
        MUST(recmap_order_blended(&order, blend.sources, blend.source_count, blend.changes,
                                  blend.change_count, &options, &error));
        check_blend(&blend, order);
        recmap_order_release(order);
        for (size_t i = 0; i < blend.source_count; i++) recmap_order_release(blend.sources[i]);
    }
}

/* The last possible position of a mixture with a change near the limit. */
static void test_late_change(void **state) {
    (void)state;
    recmap_order *sources[] = {sequential(RECMAP_ORDER_COUNT_MAX / 4), sequential(1000)}, *order;
    const double first[] = {1, 0}, second[] = {0, 1};
    const recmap_mixture_change changes[] = {{0, first}, {RECMAP_ORDER_COUNT_MAX, second}};
    recmap_mixture_options options = RECMAP_MIXTURE_OPTIONS_INIT;
    options.length = RECMAP_ORDER_COUNT_MAX;
    MUST(recmap_order_blended(&order, sources, 2, changes, 2, &options, &error));
    uint64_t numbers[2];
    const uint64_t ends[] = {0, RECMAP_ORDER_COUNT_MAX - 1};
    MUST(recmap_order_at(numbers, order, 0, ends, 2, &error));
    assert_int_equal(numbers[0], 0);
    assert_int_equal(numbers[1], RECMAP_ORDER_COUNT_MAX / 4 - 1);
    MUST(recmap_order_at(numbers, order, 1, ends, 2, &error));
    assert_int_equal(numbers[0], RECMAP_ORDER_COUNT_MAX / 4);
    assert_int_equal(numbers[1], RECMAP_ORDER_COUNT_MAX / 4 + ends[1] % 1000);
    recmap_order_release(order);
    for (int i = 0; i < 2; i++) recmap_order_release(sources[i]);
}

static void test_29_to_71(void **state) {
    (void)state;
    recmap_order *sources[] = {shuffled(1000, 1), shuffled(100000, 2)};
    const double weights[] = {0.29, 0.71};
    recmap_order *order = mixed(sources, weights, 2, RECMAP_STOP_LAST);
    uint64_t drawn = 0, g = 0;
    for (uint64_t epoch = 0; g < 1000000; epoch++) {
        uint64_t *whole = whole_epoch(order, epoch);
        for (uint64_t i = 0; i < recmap_order_count(order); i++, g++) {
            drawn += whole[i] < 1000;
            assert_true(llabs((long long)(drawn * 100) - (long long)((g + 1) * 29)) < 100);
        }
        free(whole);
    }
    recmap_order_release(order);
}

static void expect_epoch(const recmap_order *order, uint64_t epoch, const uint64_t *expected,
                         size_t count) {
    assert_int_equal(recmap_order_count(order), count);
    uint64_t *whole = whole_epoch(order, epoch);
    assert_memory_equal(whole, expected, count * sizeof *whole);
    free(whole);
}

/* Evens and odds of 5; 0..4 are the evens here, 5..9 the odds. */
static void test_evens_and_odds(void **state) {
    (void)state;
    const double three_to_one[] = {.75, .25}, one_to_two[] = {1, 2};
    recmap_order *five = sequential(5), *sources[] = {five, five}, *order = NULL;
    MUST(recmap_order_mixture(&order, sources, three_to_one, 2, RECMAP_STOP_FIRST, &error));
    const uint64_t first[] = {0, 1, 2, 5, 3, 4}, second[] = {0, 6, 1, 2, 3, 7};
    expect_epoch(order, 0, first, 6);
    expect_epoch(order, 1, second, 6);
    recmap_order_release(order);
    MUST(recmap_order_mixture(&order, sources, one_to_two, 2, RECMAP_STOP_FIRST, &error));
    const uint64_t third[] = {0, 5, 6, 1, 7, 8, 2};
    expect_epoch(order, 0, third, 7);
    recmap_order_release(order);
    MUST(recmap_order_mixture(&order, sources, one_to_two, 2, RECMAP_STOP_LAST, &error));
    assert_int_equal(recmap_order_count(order), 15);
    recmap_order_release(order);
    recmap_order_release(five);
}

static void test_nested_mixture(void **state) {
    (void)state;
    const double four_to_one[] = {4, 1}, one_to_one[] = {1, 1};
    recmap_order *inner[] = {sequential(1000), sequential(1000)};
    recmap_order *outer[] = {mixed(inner, four_to_one, 2, RECMAP_STOP_FIRST), sequential(1000)};
    recmap_order *order = mixed(outer, one_to_one, 2, RECMAP_STOP_FIRST);
    uint64_t numbers[1000], counts[3] = {0};
    MUST(recmap_order_run(numbers, order, 0, 0, 1000, &error));
    for (int i = 0; i < 1000; i++) counts[numbers[i] / 1000]++;
    assert_int_equal(counts[0], 400);
    assert_int_equal(counts[1], 100);
    assert_int_equal(counts[2], 500);
    check_access(order, 1);
    recmap_order_release(order);
}

/* Each record's position is where it comes, if it comes once. */
static void check_positions(const recmap_order *order, uint64_t epoch) {
    uint64_t *whole = whole_epoch(order, epoch);
    for (uint64_t number = 0; number < recmap_order_number_limit(order); number++) {
        uint64_t times = 0, at = 0, found = UINT64_MAX;
        for (uint64_t i = 0; i < recmap_order_count(order); i++) {
            times += whole[i] == number;
            if (whole[i] == number) at = i;
        }
        recmap_status status = recmap_order_position_of(&found, order, epoch, number, NULL);
        assert_int_equal(status, times == 0   ? RECMAP_NOT_FOUND
                                 : times == 1 ? RECMAP_OK
                                              : RECMAP_INVALID);
        assert_true(found == (times == 1 ? at : UINT64_MAX));
    }
    free(whole);
}

static void test_positions_in_mixtures(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        recmap_order *sources[] = {shuffled(3 + round, 1), listed(shuffled(5, 2), round),
                                   shuffled(9, 3)};
        const double weights[] = {1, 1 + (double)(round % 5), 2};
        recmap_order *order = mixed(sources, weights, 3, (recmap_stop)(round & 1));
        for (uint64_t epoch = 0; epoch < 4; epoch++) check_positions(order, epoch);
        recmap_order_release(order);
    }
}

/* A source that has other records in each of its epochs, several of which lie in one epoch of the
 * outer mixture: not to come in the first of them says nothing of the others. */
static void test_positions_in_nested_mixtures(void **state) {
    (void)state;
    const double alike[] = {1, 1};
    for (int is_viewed = 0; is_viewed < 2; is_viewed++) {
        recmap_order *few[] = {shuffled(10, 1), shuffled(1, 2)};
        recmap_order *inner = mixed(few, alike, 2, RECMAP_STOP_FIRST), *view = inner;
        assert_int_equal(recmap_order_count(inner), 2);
        if (is_viewed) {
            MUST(recmap_order_view_range(&view, inner, 40, 11, -3, &error));
            recmap_order_release(inner);
        }
        recmap_order *sources[] = {view, shuffled(10, 3)};
        recmap_order *order = mixed(sources, alike, 2, RECMAP_STOP_LAST);
        for (uint64_t epoch = 0; epoch < 4; epoch++) check_positions(order, epoch);
        recmap_order_release(order);
    }
}

/* ---- Groups. */

/* Each batch has one label, at most one batch per label is short, and another epoch has another
 * order. */
static void check_grouped(const recmap_order *order, const int64_t *labels, size_t n,
                          uint64_t batch_size) {
    uint64_t short_batches = 0, groups = 0, moved = 0;
    uint64_t *whole = whole_epoch(order, 0), *next = whole_epoch(order, 1);
    for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
        uint64_t first, count;
        MUST(recmap_order_batch(&first, &count, order, 0, b, &error));
        assert_true(count <= batch_size);
        short_batches += count < batch_size;
        for (uint64_t i = first; i < first + count; i++)
            assert_int_equal(labels[whole[i]], labels[whole[first]]);
    }
    for (int64_t label = -15; label < 1000; label += 10)
        for (size_t i = 0; i < n; i++)
            if (labels[i] == label) {
                groups++;
                break;
            }
    assert_true(short_batches <= groups);
    for (size_t i = 0; i < n; i++) moved += whole[i] != next[i];
    assert_true(moved > n / 2);
    free(whole);
    free(next);
}

static void test_grouped_batches(void **state) {
    (void)state;
    for (uint64_t classes = 2; classes < 100; classes = classes * 3 + 1)
        for (uint64_t batch = 1; batch < 100; batch *= 4) {
            int64_t *labels = make_labels(2000, classes, batch);
            recmap_order *order = NULL;
            MUST(recmap_order_grouped(&order, labels, 2000, batch, 7, &error));
            check_grouped(order, labels, 2000, batch);
            recmap_order_release(order);
            free(labels);
        }
}

/* The batches of a group are at random positions: the first batch belongs to each group in
 * proportion to its share. */
static void test_batches_are_shuffled(void **state) {
    (void)state;
    enum { N = 120, BATCH = 4, GROUPS = 5, EPOCHS = 20000 };
    int64_t labels[N];
    uint64_t found[GROUPS] = {0}, record[N] = {0};
    double expected[GROUPS] = {0}, alike[N];
    for (int i = 0; i < N; i++) {
        labels[i] = i % 30 < 10 ? 0 : i % 30 < 18 ? 1 : i % 30 < 26 ? 2 : i % 30 < 28 ? 3 : 4;
        alike[i] = (double)EPOCHS * BATCH / N;
    }
    for (int i = 0; i < N; i++) expected[labels[i]] += (double)EPOCHS / N;
    recmap_order *order = NULL;
    MUST(recmap_order_grouped(&order, labels, N, BATCH, 1, &error));
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint64_t numbers[BATCH];
        MUST(recmap_order_run(numbers, order, epoch, 0, BATCH, &error));
        found[labels[numbers[0]]]++;
        for (int i = 0; i < BATCH; i++) record[numbers[i]]++;
    }
    assert_true(chi_z(found, expected, GROUPS) < 5);
    /* Records of a batch hang together, so that the counts vary up to BATCH times as much. */
    assert_true(chi_z(record, alike, N) < 5.0 * BATCH * sqrt(N));
    recmap_order_release(order);
}

/* Lengths that differ by orders of magnitude. Each batch must stay within its budget when padded to
 * its longest record, and all its records must be from one bucket, so that less than half is
 * padding. */
static void test_token_budgets(void **state) {
    (void)state;
    enum { N = 5000 };
    static const int64_t bounds[] = {16, 32, 64, 128, 256};
    int64_t lengths[N];
    for (uint64_t i = 0; i < N; i++)
        lengths[i] = (int64_t)(random_below(random_word(1, i), 700) >> random_word(2, i) % 6);
    recmap_bucket_size size = {0, 4096};
    recmap_order *order = NULL;
    MUST(recmap_order_bucketed(&order, lengths, N, bounds, COUNT(bounds), size, 3, &error));
    uint64_t *whole = whole_epoch(order, 0), padded = 0, tokens = 0;
    for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
        uint64_t first, count;
        int64_t longest = 0, shortest = INT64_MAX;
        MUST(recmap_order_batch(&first, &count, order, 0, b, &error));
        for (uint64_t i = first; i < first + count; i++) {
            int64_t length = lengths[whole[i]];
            tokens += (uint64_t)length;
            if (length > longest) longest = length;
            if (length < shortest) shortest = length;
        }
        assert_true((uint64_t)longest * count <= 4096);
        for (size_t i = 0; i < COUNT(bounds); i++)
            assert_true((longest < bounds[i]) == (shortest < bounds[i]));
        padded += (uint64_t)longest * count;
    }
    assert_true(padded < 2 * tokens);
    free(whole);
    check_once(order);
}

/* In each batch, the count of every class differs from its exact share by less than 2. */
static void check_strata(uint64_t classes, uint64_t batch) {
    enum { N = 3000 };
    int64_t *labels = make_labels(N, classes, batch);
    uint64_t sizes[128] = {0};
    for (int i = 0; i < N; i++) sizes[(labels[i] + 15) / 10]++;
    recmap_order *order = NULL;
    MUST(recmap_order_stratified(&order, labels, N, batch, 2, &error));
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        uint64_t *whole = whole_epoch(order, epoch);
        for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
            uint64_t counts[128] = {0}, first, count;
            MUST(recmap_order_batch(&first, &count, order, epoch, b, &error));
            assert_int_equal(count, N - first < batch ? N - first : batch);
            for (uint64_t i = first; i < first + count; i++) counts[(labels[whole[i]] + 15) / 10]++;
            for (uint64_t c = 0; c < classes; c++)
                assert_true(fabs((double)counts[c] - (double)(sizes[c] * count) / N) < 2);
        }
        free(whole);
    }
    recmap_order_release(order);
    free(labels);
}

static void test_strata(void **state) {
    (void)state;
    for (uint64_t classes = 1; classes < 128; classes = classes * 2 + 1)
        for (uint64_t batch = 1; batch < 1000; batch *= 3) check_strata(classes, batch);
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
static void test_views(void **state) {
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
        MUST_FAIL(RECMAP_NOT_FOUND, "does not occur",
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

static void test_repeated_numbers(void **state) {
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
    recmap_order *made = NULL;
    MUST(recmap_order_weighted(&made, weights, 3, 1, 0, &error));
    return made;
}

/* A state refuses another order by its description. So orders that differ in any parameter must
 * have different descriptions, and equal ones equal descriptions. */
static void test_descriptions(void **state) {
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
        cmocka_unit_test(test_400_records),
        cmocka_unit_test(test_kept_groups_and_others),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_alias_tables_are_exact),
        cmocka_unit_test(test_mixtures_in_exact_shares),
        cmocka_unit_test(test_weights_that_change),
        cmocka_unit_test(test_late_change),
        cmocka_unit_test(test_29_to_71),
        cmocka_unit_test(test_evens_and_odds),
        cmocka_unit_test(test_nested_mixture),
        cmocka_unit_test(test_positions_in_mixtures),
        cmocka_unit_test(test_positions_in_nested_mixtures),
        cmocka_unit_test(test_grouped_batches),
        cmocka_unit_test(test_batches_are_shuffled),
        cmocka_unit_test(test_token_budgets),
        cmocka_unit_test(test_strata),
        cmocka_unit_test(test_views_compose),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_repeated_numbers),
        cmocka_unit_test(test_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
