/* Selections: saving one that was opened, and misuse. Filters: the end of an expression. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/sanitizers.h"
#include "support/shards/oracle.h"

static recmap_dataset *open_three_records(const char *path) {
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < 3; i++) oracle_add_record(&shard, "record", 6);
    index_bytes(path, NULL, "shard", &shard);
    buffer_deinit(&shard);
    return dataset_open(path, NULL);
}

static void save_two_records(const char *path, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_selection *selection = NULL;
    const uint64_t numbers[] = {2, 0};
    ASSERT_OK(recmap_selection_create(&selection, dataset, numbers, 2, &error), &error);
    ASSERT_OK(recmap_selection_save(selection, path, &error), &error);
    recmap_selection_close(selection);
}

/* Opens a selection, compares the path of its index, and attaches it to the data set. */
static recmap_selection *open_attached(const char *path, recmap_dataset *dataset,
                                       const char *index_path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_selection *selection = NULL;
    ASSERT_OK(recmap_selection_open(&selection, path, 1, &error), &error);
    assert_string_equal(recmap_selection_index_path(selection), index_path);
    ASSERT_OK(recmap_selection_attach(selection, dataset, &error), &error);
    return selection;
}

/* The path that an opened selection has is relative to the working folder. */
static void test_opened_selection_is_saved_elsewhere(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records("set.rmx");
    save_two_records("view.rmv", dataset);
    assert_int_equal(mkdir("below", 0777), 0);
    recmap_selection *selection = open_attached("view.rmv", dataset, "set.rmx");
    ASSERT_OK(recmap_selection_save(selection, "below/view.rmv", &error), &error);
    recmap_selection_close(selection);
    char expected[PATH_ROOM], folder[PATH_ROOM - 16];
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(expected, sizeof expected, "%s/set.rmx", folder);
    selection = open_attached("below/view.rmv", dataset, expected);
    ASSERT_OK(recmap_selection_save(selection, "back.rmv", &error), &error);
    recmap_selection_close(selection);
    recmap_selection_close(open_attached("back.rmv", dataset, "set.rmx"));
    assert_same_file("view.rmv", "back.rmv");
    recmap_dataset_close(dataset);
}

/* A selection that was moved without its index says how to name it, and takes another index. */
static void test_selection_that_was_moved(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records("set.rmx");
    save_two_records("view.rmv", dataset);
    recmap_dataset_close(dataset);
    assert_int_equal(mkdir("below", 0777), 0);
    assert_int_equal(rename("view.rmv", "below/view.rmv"), 0);
    recmap_selection *selection = NULL;
    ASSERT_OK(recmap_selection_open(&selection, "below/view.rmv", 1, &error), &error);
    dataset = NULL;
    assert_int_equal(recmap_selection_open_dataset(&dataset, selection, NULL, NULL, &error),
                     RECMAP_IO);
    assert_null(dataset);
    assert_string_equal(error.path, "below/set.rmx");
    assert_non_null(strstr(error.advice, "starts at the selection's own folder"));
    assert_non_null(strstr(error.advice, "`--index NAME.rmx`"));
    ASSERT_OK(recmap_selection_open_dataset(&dataset, selection, "set.rmx", NULL, &error), &error);
    assert_int_equal(recmap_selection_count(selection), 2);
    assert_int_equal(recmap_dataset_count(dataset), 3);
    recmap_selection_close(selection);
    recmap_dataset_close(dataset);
}

static void test_selection_that_is_not_attached(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records("set.rmx");
    save_two_records("view.rmv", dataset);
    recmap_selection *selection = NULL;
    ASSERT_OK(recmap_selection_open(&selection, "view.rmv", 1, &error), &error);
    assert_int_equal(recmap_selection_save(selection, "copy.rmv", &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the selection is not attached to its data set");
    assert_false(file_exists("copy.rmv"));
    recmap_selection_close(selection);
    recmap_dataset_close(dataset);
}

/* The bytes after the expression's size are not part of it. */
/* Opens a sparse file of 3 GB that begins with the bytes, in little address space: it is refused
 * by its first bytes. */
static void assert_refused_unread(const void *bytes, size_t size, const char *message) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_selection *selection = NULL;
    struct rlimit former, little = {1ul << 30, RLIM_INFINITY};
    file_write("large.rmv", bytes, size);
    assert_int_equal(truncate("large.rmv", 3000000000), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &former), 0);
    little.rlim_max = former.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    recmap_status status = recmap_selection_open(&selection, "large.rmv", 1, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &former), 0);
    assert_int_equal(status, RECMAP_CORRUPT);
    assert_non_null(strstr(error.message, message));
    assert_string_equal(error.path, "large.rmv");
    assert_true(error.advice[0]);
}

static void test_large_file_is_not_read(void **state) {
    (void)state;
    if (has_address_sanitizer || has_thread_sanitizer)
        skip(); /* sanitizers need the address space */
    recmap_dataset *dataset = open_three_records("set.rmx");
    save_two_records("view.rmv", dataset);
    struct buffer file = file_read("view.rmv");
    assert_refused_unread("", 0, "not a recmap selection");
    assert_refused_unread(file.data, 8, "longer than its header says");
    assert_refused_unread(file.data, file.size, "longer than its header says");
    file.data[12] = 1; /* a set */
    assert_refused_unread(file.data, file.size, "longer than its header says");
    file.data[8] = 77; /* the version */
    assert_refused_unread(file.data, file.size, "longer than its header says");
    buffer_deinit(&file);
    recmap_dataset_close(dataset);
}

static void test_expression_ends_in_backslash(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_three_records("set.rmx");
    recmap_filter *filter = NULL;
    const char expression[] = "length == '\\Z";
    assert_int_equal(
        recmap_filter_create(&filter, dataset, expression, strlen(expression) - 1, &error),
        RECMAP_INVALID);
    assert_string_equal(error.message, "character 12: `\\`: unknown escape in a text");
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(opened_selection_is_saved_elsewhere), TEST(selection_that_was_moved),
        TEST(selection_that_is_not_attached),      TEST(large_file_is_not_read),
        TEST(expression_ends_in_backslash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
