/* Listing files: folders, patterns, and patterns with `**`. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/list.h"
#include "base/os/path_pattern.h"
#include "base/os/tree.h"
#include "support/build.h"
#include "support/folder.h"

static bool is_shard(const char *name) {
    size_t size = strlen(name);
    return size > 2 && strcmp(name + size - 2, ".s") == 0;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The paths must be those in `expected`, which are separated by spaces. Frees the list. */
static void expect_list(struct path_list *list, const char *expected) {
    char text[1024] = "";
    if (list->count) qsort(list->paths, list->count, sizeof *list->paths, compare);
    for (size_t i = 0; i < list->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 list->paths[i]);
    assert_string_equal(text, expected);
    path_list_deinit(list);
}

static void expect_matches(const char *pattern, const char *expected) {
    struct path_list list = PATH_LIST_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(list_matches(&list, pattern, is_shard, &error), &error);
    expect_list(&list, expected);
}

static int enter_tree(void **state) {
    int failed = folder_enter(state);
    const char *folders[] = {"a", "a/b", "a/b/c", "d", ".hidden", "e.s"};
    const char *files[] = {"1.s",   "a/2.s", "a/b/3.s",     "a/b/c/4.s",
                           "d/5.s", "d/no",  ".hidden/6.s", "a/.7.s"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(folders[i], 0700)) return -1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) file_write(files[i], "x", 1);
    if (symlink("../a", "d/link") || symlink("1.s", "l.s") || mkfifo("fifo.s", 0600)) return -1;
    return failed;
}

static void test_folder(void **state) {
    (void)state;
    struct path_list list = PATH_LIST_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(list_folder(&list, "a", is_shard, &error), &error);
    expect_list(&list, "a/.7.s a/2.s");
    assert_int_equal(list_folder(&list, "missing", is_shard, &error), RECMAP_IO);
    assert_string_equal(error.path, "missing");
    path_list_deinit(&list);
}

/* Folders and FIFOs are left out, links to files are not. */
static void test_patterns(void **state) {
    (void)state;
    expect_matches("*.s", "1.s l.s");
    expect_matches("*/?.s", "a/2.s d/5.s");
    expect_matches("[ad]/[2-4].s", "a/2.s");
    expect_matches("nothing*", "");
}

/* `**` is any number of folders, follows no links to folders and enters no hidden ones. */
static void test_recursive_patterns(void **state) {
    (void)state;
    assert_true(path_pattern_is_recursive("a/**/x") && path_pattern_is_recursive("**"));
    assert_false(path_pattern_is_recursive("a*/x**"));
    expect_matches("**/*.s", "1.s a/2.s a/b/3.s a/b/c/4.s d/5.s l.s");
    expect_matches("a/**", "a/2.s a/b/3.s a/b/c/4.s");
    expect_matches("**/b/**/*.s", "a/b/3.s a/b/c/4.s");
    expect_matches("**/**/4.s", "a/b/c/4.s");
    expect_matches("a/**/", "a/2.s a/b/3.s a/b/c/4.s");
    expect_matches("**/4.s/", "");
    expect_matches(".hidden/**", ".hidden/6.s");
    expect_matches("d/link/**/3.s", "d/link/b/3.s");
    expect_matches("**/none.s", "");
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, enter_tree, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_TREE(test_folder),
        IN_TREE(test_patterns),
        IN_TREE(test_recursive_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
