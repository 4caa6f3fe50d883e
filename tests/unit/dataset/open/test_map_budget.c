/* The maps that data sets use together. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/map.h"
#include "dataset/open/map_budget.h"

static void test_data_sets_that_fit_get_a_map_for_each_shard(void **state) {
    (void)state;
    size_t limit = map_budget_limit();
    assert_true(limit > 100);
    assert_int_equal(map_budget_take(0), 0);
    assert_int_equal(map_budget_take(100), 100);
    assert_int_equal(map_budget_take(limit - 100), limit - 100);
    map_budget_give(limit);
}

static void test_a_data_set_that_does_not_fit_leaves_maps_for_others(void **state) {
    (void)state;
    size_t limit = map_budget_limit();
    assert_int_equal(map_budget_take(limit + 1), limit / 16);
    assert_int_equal(map_budget_take(100), 100);
    map_budget_give(limit / 16 + 100);
}

/* A thousand data sets with a hundred shards each, as the sources of a mixture may be. */
static void test_many_data_sets_share_the_maps(void **state) {
    (void)state;
    enum { COUNT = 1000, SHARDS = 100 };
    size_t shares[COUNT], total = 0, limit = map_budget_limit();
    const size_t preceding = map_budget_take(limit - 10 * SHARDS);
    for (size_t i = 0; i < COUNT; i++) {
        shares[i] = map_budget_take(SHARDS);
        assert_in_range(shares[i], i < 10 ? SHARDS : MAP_SHARE_MIN, SHARDS);
        total += shares[i];
    }
    assert_in_range(preceding + total, limit, limit + COUNT * MAP_SHARE_MIN);
    for (size_t i = 0; i < COUNT; i++) map_budget_give(shares[i]);
    map_budget_give(preceding);
    assert_int_equal(map_budget_take(limit), limit);
    map_budget_give(limit);
}

/* Leaves so many maps. Neighbours merge unless they differ, so every second page may be read. */
static void *use_up_maps(size_t *size, size_t left) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = map_count_max() - map_count() - left;
    *size = pages * page;
    char *first = mmap(NULL, *size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(first != MAP_FAILED);
    for (size_t i = 0; i < pages; i += 2)
        assert_int_equal(mprotect(first + i * page, page, PROT_READ), 0);
    return first;
}

/* The maps are counted again after at most so many calls. */
static bool has_room_later(void) {
    bool has_room = false;
    for (size_t i = 0; i < map_count_max(); i++) has_room = map_budget_has_room();
    return has_room;
}

static void test_the_last_maps_are_left_for_others(void **state) {
    (void)state;
    if (map_count_max() > 70000 || !map_count()) skip();
    size_t size;
    assert_true(map_budget_has_room());
    void *maps = use_up_maps(&size, map_count_max() / 16 + 1000);
    assert_true(has_room_later());
    munmap(maps, size);
    maps = use_up_maps(&size, map_count_max() / 16 - 1000);
    assert_false(has_room_later());
    munmap(maps, size);
    assert_true(has_room_later());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_sets_that_fit_get_a_map_for_each_shard),
        cmocka_unit_test(test_a_data_set_that_does_not_fit_leaves_maps_for_others),
        cmocka_unit_test(test_many_data_sets_share_the_maps),
        cmocka_unit_test(test_the_last_maps_are_left_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
