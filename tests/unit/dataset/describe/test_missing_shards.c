/* Shards that a data set lacks by the names of those it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"

enum { NAMES_MAX = 8 };

static void assert_found(uint64_t count, const char *first, uint64_t surplus_count,
                         const char *surplus, const char *const *names) {
    size_t name_count = 0;
    for (; name_count < NAMES_MAX && names[name_count]; name_count++)
        file_write(names[name_count], NULL, 0);
    index_build("set.rmx", NULL, names, name_count);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_missing_shards missing;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_dataset_find_missing_shards(&missing, dataset, &error), &error);
    assert_string_equal(missing.first, first);
    assert_int_equal(missing.count, count);
    assert_string_equal(missing.surplus, surplus);
    assert_int_equal(missing.surplus_count, surplus_count);
    recmap_dataset_close(dataset);
}

#define MISSING(count, first, ...)                                                                 \
    assert_found(count, first, 0, "", (const char *const[NAMES_MAX]){__VA_ARGS__})

#define SURPLUS(count, first, surplus_count, surplus, ...)                                         \
    assert_found(count, first, surplus_count, surplus, (const char *const[NAMES_MAX]){__VA_ARGS__})

static void test_complete_sets_lack_nothing(void **state) {
    (void)state;
    MISSING(0, "", "a-00001-of-00002", "a-00000-of-00002");
    MISSING(0, "", "00000-of-00003.bin", "00001-of-00003.bin", "00002-of-00003.bin");
    MISSING(0, "", "a-0-of-1", "b-0-of-2", "b-1-of-2", "other");
}

static void test_gaps_are_counted_and_named(void **state) {
    (void)state;
    MISSING(1, "a-00000-of-00003", "a-00001-of-00003", "a-00002-of-00003");
    MISSING(1, "a-00001-of-00003.tfrecord", "a-00002-of-00003.tfrecord",
            "a-00000-of-00003.tfrecord");
    MISSING(1, "a-2-of-3", "a-0-of-3", "a-1-of-3");
    MISSING(7, "a.tfrecord-0-of-9", "a.tfrecord-3-of-9", "a.tfrecord-6-of-9");
}

/* A missing shard is named without a mark if one that is there is. */
static void test_marks_of_copies(void **state) {
    (void)state;
    MISSING(1, "a-2-of-3", "a-0-of-3 (1)", "a-1-of-3");
    MISSING(11, "a-1-of-12 (1)", "a-0-of-12 (1)");
    MISSING(10, "a-1-of-12", "a-0-of-12 (1)", "a-10-of-12");
}

static void test_sets_that_differ(void **state) {
    (void)state;
    /* In the stem, the number of shards, the number of digits, and the end. */
    MISSING(2, "a-1-of-2", "b-1-of-2", "a-0-of-2");
    MISSING(3, "a-1-of-2", "a-0-of-2", "a-0-of-3");
    MISSING(2, "a-1-of-2", "a-0-of-2", "a-01-of-02");
    MISSING(2, "a-1-of-2.x", "a-0-of-2.x", "a-1-of-2.y");
    MISSING(1, "a-of-0-of-2", "a-of-1-of-2", "b");
}

static void test_names_that_tell_nothing(void **state) {
    (void)state;
    MISSING(0, "", "a-of-3", "a-1-of-", "a-1-of-03", "-of-");
    MISSING(0, "", "a-00000001-of-00000002", "a-00000001-of-00000003");
    MISSING(0, "", "part-00000", "part-00002");
}

static void test_one_of_several(void **state) {
    (void)state;
    MISSING(3, "a-00000-of-00004", "a-00002-of-00004");
    MISSING(3, "a-00001-of-00004", "a-00004-of-00004");
    MISSING(0, "", "a-00000-of-00001");
    MISSING(0, "", "a-00001-of-00001");
}

static void test_numbers_from_one(void **state) {
    (void)state;
    MISSING(0, "", "a-00001-of-00004", "a-00002-of-00004", "a-00003-of-00004", "a-00004-of-00004");
    MISSING(1, "a-00002-of-00004", "a-00001-of-00004", "a-00003-of-00004", "a-00004-of-00004");
    MISSING(1, "b-0-of-2", "a-1-of-2", "a-2-of-2", "b-1-of-2");
}

static void test_numbers_without_zeros(void **state) {
    (void)state;
    MISSING(0, "", "a-1-of-4", "a-2-of-4", "a-3-of-4", "a-4-of-4");
    MISSING(9, "a-1-of-12", "a-0-of-12", "a-10-of-12", "a-11-of-12");
    MISSING(9, "a-3-of-12", "a-12-of-12", "a-2-of-12", "a-1-of-12", "a-11-of-12", "b-0-of-2");
}

/* One set over several folders; or several sets, if a number repeats. */
static void test_sets_of_several_folders(void **state) {
    (void)state;
    assert_int_equal(mkdir("h", 0777), 0);
    assert_int_equal(mkdir("i", 0777), 0);
    MISSING(0, "", "h/a-0-of-4", "h/a-1-of-4", "i/a-2-of-4", "h/a-3-of-4");
    MISSING(1, "h/a-2-of-4", "h/a-0-of-4", "i/a-1-of-4", "h/a-3-of-4");
    MISSING(0, "", "h/a-0-of-2", "h/a-1-of-2", "i/a-0-of-2", "i/a-1-of-2");
    MISSING(1, "i/a-0-of-2", "h/a-0-of-2", "h/a-1-of-2", "i/a-1-of-2");
    MISSING(2, "h/a-1-of-2", "h/a-0-of-2", "i/b-1-of-2");
}

static void test_surplus_shards_are_counted_and_named(void **state) {
    (void)state;
    SURPLUS(0, "", 1, "a-2-of-2.x", "a-0-of-2.x", "a-1-of-2.x", "a-2-of-2.x");
    SURPLUS(1, "a-1-of-2", 2, "a-5-of-2", "a-0-of-2", "a-5-of-2", "a-7-of-2");
    SURPLUS(0, "", 1, "a-3-of-2", "a-1-of-2", "a-2-of-2", "a-3-of-2");
}

/* The name of the first missing shard is cut, not written past its end. */
static void test_long_names_are_cut(void **state) {
    (void)state;
    enum { LEVELS = 10, LEVEL_SIZE = 150 };
    char folder[LEVELS * (LEVEL_SIZE + 1) + 1] = "", first[sizeof folder + 8], last[sizeof first];
    for (char *end = folder; end < folder + sizeof folder - 1; end += LEVEL_SIZE + 1) {
        memset(end, 'a', LEVEL_SIZE);
        assert_int_equal(mkdir(folder, 0777), 0);
        end[LEVEL_SIZE] = '/';
    }
    snprintf(first, sizeof first, "%s0-of-3", folder);
    snprintf(last, sizeof last, "%s2-of-3", folder);
    char expected[1024] = "";
    memcpy(expected, folder, sizeof expected - 1);
    MISSING(1, expected, first, last);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(complete_sets_lack_nothing),
        TEST(gaps_are_counted_and_named),
        TEST(marks_of_copies),
        TEST(sets_that_differ),
        TEST(names_that_tell_nothing),
        TEST(long_names_are_cut),
        TEST(one_of_several),
        TEST(numbers_from_one),
        TEST(numbers_without_zeros),
        TEST(sets_of_several_folders),
        TEST(surplus_shards_are_counted_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
