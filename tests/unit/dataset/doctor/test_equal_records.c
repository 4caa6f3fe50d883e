/* Equal records are found in bounded memory, also if not all records can be kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/doctor/equal_records.h"

enum { KEPT_MAX = 1 << 22 };

static void add(struct equal_records *records, uint64_t item, uint64_t contents) {
    assert_int_equal(equal_records_add(records, item, &contents, sizeof contents, NULL), RECMAP_OK);
    assert_true(records->count <= KEPT_MAX);
}

/* The contents of a record decide if it is kept, so both of an equal pair are kept or neither.
 */
static void test_pairs_are_kept_together(void **state) {
    (void)state;
    struct equal_records records = {0};
    enum { COUNT = KEPT_MAX / 4 * 5 };
    for (uint64_t item = 0; item < COUNT; item++) add(&records, item, item / 2);
    assert_int_equal(records.zeros, 1);
    assert_in_range(records.count, COUNT / 2 - COUNT / 100, COUNT / 2 + COUNT / 100);
    for (size_t i = 0; i + 1 < records.count; i += 2) {
        assert_int_equal(records.hashes[i].item + 1, records.hashes[i + 1].item);
        assert_int_equal(records.hashes[i].low, records.hashes[i + 1].low);
    }
    equal_records_deinit(&records);
}

static void test_all_records_are_equal(void **state) {
    (void)state;
    struct equal_records records = {0};
    for (uint64_t item = 0; item < KEPT_MAX + 10; item++) add(&records, item, 7);
    assert_true(records.count == KEPT_MAX || !records.count);
    equal_records_deinit(&records);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_are_kept_together),
        cmocka_unit_test(test_all_records_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
