/* How much work the first read of an epoch of a grouped order is, counted in steps of searches, and
 * that it can be interrupted. grouped.c is compiled in here with a search that counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <recmap/interrupt.h>
#include <recmap/order.h>

#include "base/core/search.h"

static uint64_t step_count;

static uint32_t counted_search(const uint32_t *keys, uint32_t count, uint64_t limit) {
    for (uint32_t left = count; left; left /= 2) step_count++;
    return search_below32(keys, count, limit);
}

#define search_below32 counted_search
#include "order/kinds/grouped.c"
#undef search_below32

#include <cmocka.h>

enum { RECORDS = 200000, STEPS_MAX = 8 };

/* An order of groups of one record. */
static recmap_order *create_order(size_t count) {
    int64_t *labels = malloc(count * sizeof *labels);
    assert_non_null(labels);
    for (size_t i = 0; i < count; i++) labels[i] = (int64_t)i;
    recmap_order *order = NULL;
    assert_int_equal(recmap_order_grouped(&order, labels, count, 1, 7, NULL), RECMAP_OK);
    free(labels);
    return order;
}

static uint64_t count_steps(size_t count) {
    recmap_order *order = create_order(count);
    uint64_t number = 0;
    step_count = 0;
    assert_int_equal(recmap_order_at(&number, order, 0, &number, 1, NULL), RECMAP_OK);
    recmap_order_release(order);
    return step_count;
}

/* A search among all groups would take log2(count) steps for each batch. */
static void test_work_is_linear(void **state) {
    (void)state;
    uint64_t steps = count_steps(RECORDS), twice = count_steps(2 * RECORDS);
    assert_true(steps >= RECORDS && steps <= (uint64_t)STEPS_MAX * RECORDS);
    assert_true(twice <= 2 * steps + STEPS_MAX * STEPS_MAX);
}

/* Continues until it has been called `left` times. */
static int stop_at_last(void *left) {
    return --*(int *)left <= 0;
}

static void test_grouping_asks_the_interrupt(void **state) {
    (void)state;
    enum { CALLS = 10 };
    recmap_order *order = create_order(RECORDS);
    uint64_t position = 3, number = 0, again = 0;
    int left = CALLS;
    recmap_thread_set_interrupt(stop_at_last, &left);
    assert_int_equal(recmap_order_at(&number, order, 0, &position, 1, NULL), RECMAP_CANCELLED);
    assert_int_equal(left, 0);
    left = RECORDS;
    assert_int_equal(recmap_order_at(&number, order, 0, &position, 1, NULL), RECMAP_OK);
    assert_true(left < RECORDS - CALLS);
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(recmap_order_position_of(&again, order, 0, number, NULL), RECMAP_OK);
    assert_int_equal(again, position);
    recmap_order_release(order);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_linear),
        cmocka_unit_test(test_grouping_asks_the_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
