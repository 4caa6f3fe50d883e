/* Layouts of long records, and records that were verified: what was kept is found, for that record
 * and parser alone, until it is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/long_records/record_layouts.h"
#include "dataset/long_records/verified.h"

static void assert_missing(struct record_layouts *layouts, uint64_t record, uint64_t parser_id) {
    struct record_layout layout = {.record = record, .parser_id = parser_id};
    struct list_place lists[2];
    assert_false(record_layouts_find(&layout, lists, 2, layouts));
}

static void assert_kept(struct record_layouts *layouts, const struct record_layout *expected,
                        const struct list_place *expected_lists) {
    struct record_layout layout = {.record = expected->record, .parser_id = expected->parser_id};
    struct list_place lists[2];
    assert_true(record_layouts_find(&layout, lists, 2, layouts));
    assert_int_equal(layout.payload_offset, expected->payload_offset);
    assert_int_equal(layout.payload_size, expected->payload_size);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(lists[i].is_found, expected_lists[i].is_found);
        assert_int_equal(lists[i].offset, expected_lists[i].offset);
        assert_int_equal(lists[i].size, expected_lists[i].size);
    }
}

static void test_layouts_are_kept_and_found_again(void **state) {
    (void)state;
    const struct list_place lists[] = {{40, 1 << 18, true}, {0, 0, false}};
    const struct record_layout layout = {
        .record = 7, .parser_id = 1, .payload_offset = 12, .payload_size = 1 << 19};
    struct record_layouts *layouts = record_layouts_create();
    assert_non_null(layouts);
    assert_missing(layouts, 7, 1);
    record_layouts_keep(layouts, &layout, lists, 2);
    assert_kept(layouts, &layout, lists);
    assert_missing(layouts, 8, 1);
    assert_missing(layouts, 7, 2);
    record_layouts_forget(layouts, 8);
    assert_kept(layouts, &layout, lists);
    record_layouts_forget(layouts, 7);
    assert_missing(layouts, 7, 1);
    record_layouts_destroy(layouts);
    record_layouts_destroy(NULL);
}

static void test_verified_records_are_remembered(void **state) {
    (void)state;
    enum { RECORDS = 129 };
    struct verified verified;
    assert_true(verified_init(&verified, RECORDS));
    for (uint64_t record = 0; record < RECORDS; record++) {
        uint64_t added = record * 2 % RECORDS; /* every record once */
        assert_false(verified_has(&verified, added));
        verified_add(&verified, added);
        for (uint64_t i = 0; i < RECORDS; i++)
            assert_int_equal(verified_has(&verified, i),
                             i % 2 ? record >= (RECORDS + i) / 2 : record >= i / 2);
    }
    verified_deinit(&verified);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts_are_kept_and_found_again),
        cmocka_unit_test(test_verified_records_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
