/* The maps that data sets use together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_sets_that_fit_get_a_map_for_each_shard),
        cmocka_unit_test(test_a_data_set_that_does_not_fit_leaves_maps_for_others),
        cmocka_unit_test(test_many_data_sets_share_the_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
