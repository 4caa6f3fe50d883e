/* Mixtures: exact shares, weights that change, nested mixtures, and positions in them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "check.h"
#include "make.h"

#include <cmocka.h>

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
        if (!k && round % 4) /* every source is used */
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

/* Checks that each source has its exact share of the `t` positions since a change. */
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
        const recmap_order *base = blend->sources[source];
        uint64_t k = drawn[source]++, own = recmap_order_count(base);
        MUST(recmap_order_at(&expected, base, k / own, &(uint64_t){k % own}, 1, &error));
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

/* A source of weight 0 changes nothing in a mixture but the numbers. */
static void test_a_source_that_is_never_used(void **state) {
    (void)state;
    enum { UNUSED = 7, FIRST = 30 };
    recmap_order *all[] = {shuffled(FIRST, 1), shuffled(UNUSED, 2), shuffled(9, 3)};
    recmap_order *used[] = {all[0], all[2]};
    const double weights[] = {3, 0, 2}, others[] = {3, 2};
    for (int is_last = 0; is_last < 2; is_last++) {
        recmap_order *with = NULL, *without = NULL;
        recmap_stop stop = is_last ? RECMAP_STOP_LAST : RECMAP_STOP_FIRST;
        MUST(recmap_order_mixture(&with, all, weights, 3, stop, &error));
        MUST(recmap_order_mixture(&without, used, others, 2, stop, &error));
        assert_int_equal(recmap_order_count(with), recmap_order_count(without));
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            uint64_t *numbers = whole_epoch(with, epoch), *expected = whole_epoch(without, epoch);
            for (uint64_t i = 0; i < recmap_order_count(with); i++)
                assert_int_equal(numbers[i], expected[i] + (expected[i] < FIRST ? 0 : UNUSED));
            free(numbers);
            free(expected);
            check_positions(with, epoch);
        }
        recmap_order_release(with);
        recmap_order_release(without);
    }
    for (int i = 0; i < 3; i++) recmap_order_release(all[i]);
}

/* The last possible position of a mixture with a change near the limit. */
static void test_a_change_near_the_limit_is_exact(void **state) {
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

static void test_mixtures_of_mixtures_are_exact(void **state) {
    (void)state;
    const double four_to_one[] = {4, 1}, one_to_one[] = {1, 1};
    recmap_order *inner[] = {sequential(1000), sequential(1000)};
    recmap_order *outer[] = {mixed(inner, four_to_one, 2, RECMAP_STOP_FIRST), sequential(1000)};
    recmap_order *order = mixed(outer, one_to_one, 2, RECMAP_STOP_FIRST);
    uint64_t numbers[1000], counts[3] = {0};
    MUST(recmap_order_read(numbers, order, 0, 0, 1000, &error));
    for (int i = 0; i < 1000; i++) counts[numbers[i] / 1000]++;
    assert_int_equal(counts[0], 400);
    assert_int_equal(counts[1], 100);
    assert_int_equal(counts[2], 500);
    check_access(order, 1);
    recmap_order_release(order);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixtures_in_exact_shares),
        cmocka_unit_test(test_weights_that_change),
        cmocka_unit_test(test_a_source_that_is_never_used),
        cmocka_unit_test(test_a_change_near_the_limit_is_exact),
        cmocka_unit_test(test_29_to_71),
        cmocka_unit_test(test_evens_and_odds),
        cmocka_unit_test(test_mixtures_of_mixtures_are_exact),
        cmocka_unit_test(test_positions_in_mixtures),
        cmocka_unit_test(test_positions_in_nested_mixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
