/* Listing files: folders, patterns, and patterns with `**`. */
#define _GNU_SOURCE
#include <glob.h>
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

#include <recmap/interrupt.h>

#include "base/os/list.h"

#include "base/os/tree.h"
#include "support/folder.h"
#include "support/index/build.h"

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
    ASSERT_OK(tree_list(&list, pattern, is_shard, &error), &error);
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

static void test_folders_are_listed(void **state) {
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
static void test_patterns_match_files_and_links_to_them(void **state) {
    (void)state;
    expect_matches("*.s", "1.s l.s");
    expect_matches("*/?.s", "a/2.s d/5.s");
    expect_matches("[ad]/[2-4].s", "a/2.s");
    expect_matches("nothing*", "");
}

/* Patterns without `**` mean what they mean to libc, except that wildcards never match `.` and
 * `..`, as in Python. */
static void test_patterns_match_as_in_libc(void **state) {
    (void)state;
    static const char *const patterns[] = {
        "*",         "a*/?*/*", "[!a]/*.s", "[[:digit:]].s", "[",          "a/[b/c]*",
        "*/b/3.s",   "*/none",  "*/b/*/",   "*/../1.s",      "?/./*.s",    "\\a/*.s",
        "a/\\*.s",   "a//*.s",  "*/.7.s",   "**.s",          "d/*/b/3.s",  "d/*/../d/no*",
        "none*/3.s", "*/2.s/*", "*/gone.s", "*/no",          "a/../*/2.s", "*/b/c/4.s",
    };
    assert_int_equal(symlink("nowhere", "a/gone.s"), 0);
    expect_matches(".*/*", ".hidden/6.s");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char expected[1024] = "";
        glob_t found = {0};
        glob(patterns[i], 0, NULL, &found);
        for (size_t j = 0; j < found.gl_pathc; j++) {
            const char *path = found.gl_pathv[j];
            struct stat st;
            if (!is_shard(path) || (!stat(path, &st) && !S_ISREG(st.st_mode))) continue;
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s",
                     expected[0] ? " " : "", path);
        }
        globfree(&found);
        expect_matches(patterns[i], expected);
    }
}

/* A folder may be passed through without permission to read it. */
static void test_a_name_is_found_without_reading_its_folder(void **state) {
    (void)state;
    if (geteuid() == 0) skip(); /* root reads everything */
    assert_int_equal(chmod("a/b", 0111), 0);
    expect_matches("*/b/3.s", "a/b/3.s");
    assert_int_equal(chmod("a/b", 0700), 0);
}

static int stop(void *context) {
    (void)context;
    return 1;
}

static void test_listing_can_be_interrupted(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct path_list list = PATH_LIST_INIT;
    recmap_status status = RECMAP_OK;
    recmap_thread_set_interrupt(stop, NULL); /* it is asked once after many files */
    for (int i = 0; status == RECMAP_OK && i < 100; i++)
        status = tree_list(&list, "**/*.s", is_shard, &error);
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(status, RECMAP_CANCELLED);
    path_list_deinit(&list);
}

/* `**` is any number of folders, follows no links to folders and enters no hidden ones. */
static void test_two_stars_match_any_number_of_folders(void **state) {
    (void)state;
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
        IN_TREE(test_folders_are_listed),
        IN_TREE(test_patterns_match_files_and_links_to_them),
        IN_TREE(test_patterns_match_as_in_libc),
        IN_TREE(test_a_name_is_found_without_reading_its_folder),
        IN_TREE(test_listing_can_be_interrupted),
        IN_TREE(test_two_stars_match_any_number_of_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
