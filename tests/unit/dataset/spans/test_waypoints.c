/* Places within long blocks: one is found near, however many there were, and never one outside of
 * what was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dataset/spans/span.h"
#include "support/random.h"

enum { PLACES = 3000, KEPT_MAX = 512 };

static const struct inflate_source source = {.bytes = (const uint8_t *)"\x1f\x8b\x08", .size = 3};

/* Where the place is that is found; UINT64_MAX: none. */
static uint64_t find(const struct waypoints *waypoints, uint64_t offset_min, uint64_t offset_max) {
    struct inflater *inflater = waypoints_resume(waypoints, offset_min, offset_max, &source);
    uint64_t offset = inflater ? inflater_offset(inflater) : UINT64_MAX;
    inflater_destroy(inflater);
    return offset;
}

static size_t count_places(const struct waypoints *waypoints, uint64_t offset_max) {
    size_t count = 0;
    for (uint64_t at = find(waypoints, 0, offset_max); at != UINT64_MAX; count++) {
        if (!at) return count + 1;
        at = find(waypoints, 0, at - 1);
    }
    return count;
}

static void add(struct waypoints *waypoints, struct inflater *inflater, uint64_t offset) {
    inflater_start(inflater, 0, offset);
    waypoints_add(waypoints, inflater);
}

static void test_waypoints_lead_to_the_nearest_position(void **state) {
    (void)state;
    struct waypoints *places = waypoints_create();
    struct inflater *in = inflater_create(COMPRESSION_GZIP, &source);
    assert_true(find(places, 0, UINT64_MAX) == UINT64_MAX);
    add(places, in, 5 * SPAN_PIECE);
    add(places, in, 2 * SPAN_PIECE);
    add(places, in, 9 * SPAN_PIECE);
    add(places, in, 9 * SPAN_PIECE);
    add(places, in, 9 * SPAN_PIECE + 1); /* too near */
    add(places, in, 9 * SPAN_PIECE - 1);
    assert_int_equal(count_places(places, UINT64_MAX), 3);
    assert_int_equal(find(places, 0, 7 * SPAN_PIECE), 5 * SPAN_PIECE);
    assert_int_equal(find(places, 5 * SPAN_PIECE, 5 * SPAN_PIECE), 5 * SPAN_PIECE);
    assert_int_equal(find(places, 0, 5 * SPAN_PIECE - 1), 2 * SPAN_PIECE);
    assert_true(find(places, 0, 2 * SPAN_PIECE - 1) == UINT64_MAX);
    assert_true(find(places, 5 * SPAN_PIECE + 1, 8 * SPAN_PIECE) == UINT64_MAX);
    inflater_destroy(in);
    waypoints_destroy(places);
}

/* More positions than are kept, added in order and at random. The number kept stays within its
 * limit, and the position found is at or shortly before the one asked for. */
static void test_the_number_of_waypoints_is_limited(void **state) {
    (void)state;
    struct rng random = {1};
    for (int round = 0; round < 2; round++) {
        struct waypoints *places = waypoints_create();
        struct inflater *in = inflater_create(COMPRESSION_GZIP, &source);
        for (uint64_t i = 0; i < PLACES; i++)
            add(places, in, (round ? rng_below(&random, PLACES) : i) * SPAN_PIECE);
        size_t count = count_places(places, UINT64_MAX);
        assert_true(count < KEPT_MAX && count > KEPT_MAX / 8);
        for (int i = 0; i < 1000; i++) {
            uint64_t asked = rng_below(&random, (PLACES - 1) * SPAN_PIECE);
            uint64_t found = find(places, 0, asked);
            if (found == UINT64_MAX) found = 0;
            assert_true(found <= asked && asked - found < 40 * SPAN_PIECE);
        }
        inflater_destroy(in);
        waypoints_destroy(places);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waypoints_lead_to_the_nearest_position),
        cmocka_unit_test(test_the_number_of_waypoints_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
