/* What programs add to the names of copies. */
#include "format/shards/copy_mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_mark(const char *file, const char *expected) {
    char text[64];
    struct path_part mark = copy_mark_find(file);
    snprintf(text, sizeof text, "%.*s", (int)mark.size, mark.start);
    assert_string_equal(text, expected);
}

static void test_marks_that_programs_add(void **state) {
    (void)state;
    assert_mark("x (1).tfrecord", " (1)");
    assert_mark("x.tfrecord (12).gz", " (12)");
    assert_mark("x (1)", " (1)");
    assert_mark("x copy.tfrecord", " copy");
    assert_mark("x copy 2.tfrecord", " copy 2");
    assert_mark("x - Copy.tfrecord", " - Copy");
    assert_mark("x - Copy (2).tfrecord", " - Copy (2)");
    assert_mark("x (copy).tfrecord", " (copy)");
    assert_mark("x (Copy 3).tfrecord", " (Copy 3)");
    assert_mark("x (another copy).tfrecord", " (another copy)");
    assert_mark("x (3rd copy).tfrecord", " (3rd copy)");
    assert_mark("Copy of x.tfrecord", "Copy of ");
    assert_mark("Copy (2) of x.tfrecord", "Copy (2) of ");
    assert_mark("x (1).tfrecord-00000-of-00002", " (1)");
    assert_mark("x-00000-of-00002 copy", " copy");
    assert_mark("x (1) (2).tfrecord", " (2)");
}

static void test_names_without_a_mark(void **state) {
    (void)state;
    static const char *const names[] = {
        "",           "x",       "x(1).tfrecord",  "x (1)y.tfrecord",    "x (2024).tfrecord",
        "x ().gz",    "x 1.gz",  "x (a).tfrecord", "copy.tfrecord",      "x-copy.tfrecord",
        " (1)",       " copy.x", "Copy of ",       "Copy of.tfrecord",   "x copying.tfrecord",
        "x (1 copy)", "Copy of", "Copy of .x",     "a copy of y.record", "x_copy 2.tfrecord",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_mark(names[i], "");
}

static int compare(const char *a, const char *b) {
    struct path_part part_a = {a, strlen(a)}, part_b = {b, strlen(b)};
    return copy_mark_compare(part_a, copy_mark_find(a), part_b, copy_mark_find(b));
}

static void test_marks_do_not_matter(void **state) {
    (void)state;
    assert_int_equal(compare("x", "x (1)"), 0);
    assert_int_equal(compare("x copy.gz", "Copy of x.gz"), 0);
    assert_true(compare("x (1).gz", "x") > 0);
    assert_true(compare("w (1).gz", "x") < 0);
    struct path_part name = {"x (1).gz", 1}, whole = {name.start, 8};
    assert_false(copy_mark_is_in(copy_mark_find(name.start), name));
    assert_int_equal(copy_mark_original_size(name, copy_mark_find(name.start)), 1);
    assert_int_equal(copy_mark_original_size(whole, copy_mark_find(name.start)), 4);
}

static bool is_number(const char *file) {
    return copy_mark_is_number(copy_mark_find(file));
}

static void test_marks_that_are_numbers(void **state) {
    (void)state;
    assert_true(is_number("x (1).tfrecord"));
    assert_true(is_number("x copy (12)"));
    assert_false(is_number("x"));
    assert_false(is_number("x copy 2"));
    assert_false(is_number("x (copy 2)"));
    assert_false(is_number("x (2nd copy)"));
    assert_false(is_number("x - Copy (2)"));
    assert_false(is_number("Copy (2) of x"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_that_programs_add), cmocka_unit_test(test_names_without_a_mark),
        cmocka_unit_test(test_marks_that_are_numbers), cmocka_unit_test(test_marks_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
