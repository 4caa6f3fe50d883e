/* Runs: what remains of a run that is truncated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "index/extract/run.h"

enum { RECORDS = 6, INTS = 0, TEXTS = 1, LATE = 2, COLUMNS = 3 };

static recmap_value int_value(int64_t number) {
    return (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = number};
}

static recmap_value text_value(const char *text) {
    recmap_value value = {.type = RECMAP_TYPE_BYTES};
    value.as.bytes.data = (const uint8_t *)text;
    value.as.bytes.size = strlen(text);
    return value;
}

/* Record i: the number i, a text unless i is odd, and from record 4 on a third value. */
static void add_record(struct record_run *run, size_t i) {
    static const char *const texts[RECORDS] = {"a", NULL, "ccc", NULL, "ee", NULL};
    const recmap_value missing = {.type = RECMAP_TYPE_NONE};
    recmap_value number = int_value((int64_t)i), text = texts[i] ? text_value(texts[i]) : missing;
    recmap_value late = i < 4 ? missing : int_value(7);
    assert_true(run_add(run, 100 * i, 10 + i, (uint32_t)i));
    run_set_id(run, 1000 + i);
    assert_int_equal(run_set_column(run, INTS, &number), RUN_OK);
    assert_int_equal(run_set_column(run, TEXTS, &text), RUN_OK);
    assert_int_equal(run_set_column(run, LATE, &late), RUN_OK);
}

static void assert_text(const struct record_run *run, size_t i, const char *expected) {
    recmap_value value = run_column_at(run, TEXTS, i);
    assert_int_equal(value.type, RECMAP_TYPE_BYTES);
    assert_int_equal(value.as.bytes.size, strlen(expected));
    assert_memory_equal(value.as.bytes.data, expected, strlen(expected));
}

/* The records that remain are unchanged, and others can be added after them. */
static void test_truncating_keeps_the_other_records(void **state) {
    (void)state;
    struct record_run run;
    assert_true(run_init(&run, true, COLUMNS, 0));
    for (size_t i = 0; i < RECORDS; i++) add_record(&run, i);
    run_truncate(&run, 3);
    assert_int_equal(run.count, 3);
    assert_int_equal(run.columns[TEXTS].bytes_size, 4);
    add_record(&run, 4);
    assert_int_equal(run.offsets[2], 200);
    assert_int_equal(run.ids[3], 1004);
    assert_int_equal(run_column_at(&run, INTS, 3).as.int64, 4);
    assert_text(&run, 0, "a");
    assert_int_equal(run_column_at(&run, TEXTS, 1).type, RECMAP_TYPE_NONE);
    assert_text(&run, 2, "ccc");
    assert_text(&run, 3, "ee");
    run_deinit(&run);
}

/* A column whose typed values are all removed has no type any more: another one may follow. */
static void test_truncate_forgets_types(void **state) {
    (void)state;
    struct record_run run;
    assert_true(run_init(&run, true, COLUMNS, 0));
    for (size_t i = 0; i < RECORDS; i++) add_record(&run, i);
    run_truncate(&run, 4);
    assert_int_equal(run.columns[LATE].type, RECMAP_TYPE_NONE);
    assert_int_equal(run.columns[INTS].type, RECMAP_TYPE_INT64);
    run_truncate(&run, 0);
    recmap_value text = text_value("x");
    assert_true(run_add(&run, 0, 1, 0));
    assert_int_equal(run_set_column(&run, INTS, &text), RUN_OK);
    assert_int_equal(run_set_column(&run, TEXTS, &text), RUN_OK);
    assert_int_equal(run_set_column(&run, LATE, &text), RUN_OK);
    assert_text(&run, 0, "x");
    run_deinit(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_truncating_keeps_the_other_records),
                                       cmocka_unit_test(test_truncate_forgets_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
