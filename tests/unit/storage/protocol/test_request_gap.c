/* The gap that is downloaded to save a request: samples in, bytes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storage/protocol/request_gap.h"

#define MS 1000000ull

enum { KIB = 1 << 10, ROUNDS = 32 * GAP_INTERVAL };

/* A store: its latency, and the bytes that arrive in a millisecond. */
struct store {
    uint64_t latency_ns;
    uint64_t bytes_per_ms;
};

static uint64_t time_of(const struct store *store, uint64_t size) {
    return store->latency_ns + size * MS / store->bytes_per_ms;
}

/* Sizes from 16 KiB to 272 KiB, in an order that repeats. */
static uint64_t size_of(size_t i) {
    return (16 + i * 7 % 257) * KIB;
}

static void feed(struct request_gap *gap, const struct store *store, size_t count) {
    for (size_t i = 0; i < count; i++) request_gap_add(gap, size_of(i), time_of(store, size_of(i)));
}

static uint64_t gap_of(uint64_t latency_ns, uint64_t bytes_per_ms) {
    const struct store store = {latency_ns, bytes_per_ms};
    struct request_gap gap;
    request_gap_init(&gap);
    feed(&gap, &store, ROUNDS);
    return gap.size;
}

static void check_near(uint64_t found, uint64_t expected) {
    assert_in_range(found, expected - expected / 20, expected + expected / 20);
}

static void test_it_is_the_latency_times_the_rate(void **state) {
    (void)state;
    check_near(gap_of(10 * MS, 20000), 200000);
    check_near(gap_of(20 * MS, 20000), 400000);
    check_near(gap_of(10 * MS, 2000), 20000);
    check_near(gap_of(MS / 2, 1000000), 500000);
}

static void test_it_is_limited(void **state) {
    (void)state;
    check_near(gap_of(100 * MS, 100000), GAP_MEASURED_MAX);
    check_near(gap_of(MS / 10, 1000), GAP_MIN);
}

static void test_it_is_the_default_until_enough_requests_were_made(void **state) {
    (void)state;
    const struct store store = {10 * MS, 2000};
    struct request_gap gap;
    request_gap_init(&gap);
    feed(&gap, &store, GAP_SAMPLES - 1);
    assert_int_equal(gap.size, GAP_DEFAULT);
    feed(&gap, &store, 1);
    assert_true(gap.size < GAP_DEFAULT);
}

/* Requests of one size do not tell latency from rate. */
static void test_requests_of_one_size_change_nothing(void **state) {
    (void)state;
    struct request_gap gap;
    request_gap_init(&gap);
    for (size_t i = 0; i < ROUNDS; i++) request_gap_add(&gap, 64 * KIB, (i % 10) * MS);
    assert_int_equal(gap.size, GAP_DEFAULT);
}

/* A tenth of the requests takes a second longer, such as those that wait for a connection, and a
 * tenth is answered by a cache nearby. */
static void test_outliers_change_little(void **state) {
    (void)state;
    const struct store store = {10 * MS, 20000};
    struct request_gap gap;
    request_gap_init(&gap);
    for (size_t i = 0; i < ROUNDS; i++) {
        uint64_t ns = time_of(&store, size_of(i));
        request_gap_add(&gap, size_of(i), i % 10 == 3 ? ns + 1000 * MS : i % 10 == 6 ? MS / 4 : ns);
    }
    assert_in_range(gap.size, 150000, 270000);
}

/* Without a difference between long and short requests, bytes cost nothing; with a negative one,
 * which chance can bring about, neither. */
static void test_bytes_that_cost_nothing(void **state) {
    (void)state;
    struct request_gap gap;
    request_gap_init(&gap);
    for (size_t i = 0; i < ROUNDS; i++) request_gap_add(&gap, size_of(i), 20 * MS);
    check_near(gap.size, GAP_MEASURED_MAX);
    for (size_t i = 0; i < ROUNDS; i++)
        request_gap_add(&gap, size_of(i), 20 * MS - size_of(i) / KIB);
    check_near(gap.size, GAP_MEASURED_MAX);
}

static void test_it_follows_a_store_that_changes(void **state) {
    (void)state;
    const struct store before = {10 * MS, 20000}, after = {10 * MS, 2000};
    struct request_gap gap;
    request_gap_init(&gap);
    feed(&gap, &before, ROUNDS);
    check_near(gap.size, 200000);
    feed(&gap, &after, ROUNDS);
    check_near(gap.size, 20000);
}

/* Times and sizes of zero, and the largest ones, give a gap within the limits. */
static void test_extreme_samples_stay_within_the_limits(void **state) {
    (void)state;
    const uint64_t numbers[] = {0, 1, 1 << 20, UINT64_MAX / 2, UINT64_MAX};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct request_gap gap;
    request_gap_init(&gap);
    for (size_t i = 0; i < ROUNDS; i++) {
        request_gap_add(&gap, numbers[i % COUNT], numbers[i / 3 % COUNT]);
        assert_in_range(gap.size, GAP_MIN, GAP_MEASURED_MAX);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_latency_times_the_rate),
        cmocka_unit_test(test_it_is_limited),
        cmocka_unit_test(test_it_is_the_default_until_enough_requests_were_made),
        cmocka_unit_test(test_requests_of_one_size_change_nothing),
        cmocka_unit_test(test_outliers_change_little),
        cmocka_unit_test(test_bytes_that_cost_nothing),
        cmocka_unit_test(test_it_follows_a_store_that_changes),
        cmocka_unit_test(test_extreme_samples_stay_within_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
