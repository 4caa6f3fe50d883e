/* Percentiles of latencies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storage/protocol/latency.h"

#define MS 1000000ull

static void check_near(uint64_t found, uint64_t expected) {
    assert_in_range(found, expected, expected + expected / 8);
}

static void test_without_requests_all_percentiles_are_zero(void **state) {
    (void)state;
    struct latency latency = {0};
    assert_int_equal(latency_percentile(&latency, 50), 0);
    assert_int_equal(latency_percentile(&latency, 99), 0);
}

static void test_percentiles_are_at_most_an_eighth_too_long(void **state) {
    (void)state;
    struct latency latency = {0};
    for (uint64_t i = 1000; i; i--) latency_add(&latency, i * MS);
    check_near(latency_percentile(&latency, 1), 10 * MS);
    check_near(latency_percentile(&latency, 50), 500 * MS);
    check_near(latency_percentile(&latency, 99), 990 * MS);
    check_near(latency_percentile(&latency, 100), 1000 * MS);
}

/* Each time is in a bucket that ends at or after it, from 0 to the largest number. */
static void test_any_time_has_a_bucket(void **state) {
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++) {
        const uint64_t power = UINT64_C(1) << shift;
        const uint64_t times[] = {power - 1, power, power + power / 2, power + (power - 1)};
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            struct latency latency = {0};
            latency_add(&latency, times[i]);
            uint64_t found = latency_percentile(&latency, 100);
            assert_true(found >= times[i] && found - times[i] <= times[i] / 8);
        }
    }
}

static void test_percentiles_follow_a_store_that_becomes_slower(void **state) {
    (void)state;
    struct latency latency = {0};
    for (size_t i = 0; i < LATENCY_COUNT_MAX; i++) latency_add(&latency, MS);
    check_near(latency_percentile(&latency, 50), MS);
    for (size_t i = 0; i < LATENCY_COUNT_MAX; i++) latency_add(&latency, 100 * MS);
    check_near(latency_percentile(&latency, 50), 100 * MS);
    assert_true(latency.count < LATENCY_COUNT_MAX);
}

static void test_histograms_are_merged(void **state) {
    (void)state;
    struct latency one = {0}, other = {0};
    for (size_t i = 0; i < 90; i++) latency_add(&one, MS);
    for (size_t i = 0; i < 10; i++) latency_add(&other, 100 * MS);
    latency_merge(&one, &other);
    assert_int_equal(one.count, 100);
    check_near(latency_percentile(&one, 90), MS);
    check_near(latency_percentile(&one, 91), 100 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_requests_all_percentiles_are_zero),
        cmocka_unit_test(test_percentiles_are_at_most_an_eighth_too_long),
        cmocka_unit_test(test_any_time_has_a_bucket),
        cmocka_unit_test(test_percentiles_follow_a_store_that_becomes_slower),
        cmocka_unit_test(test_histograms_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
