/* Which of the files of a build are told to be copies, and how much of them is read for that. */
#define _GNU_SOURCE
#include "index/build/shard_files.h"

#include <recmap/warning.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"

enum { LARGE = 100000, FILES_MAX = 8 };

static int read_count, warning_count;

/* These replace the functions of the C library. */
ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    read_count++;
    return syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off_t offset) {
    read_count++;
    return syscall(SYS_pread64, fd, data, size, offset);
}

static void count_warning(const recmap_error *warning, void *context) {
    (void)context;
    warning_count++;
    assert_non_null(strstr(warning->message, "seems to be a copy of"));
}

/* Writes a file of equal bytes, except the one at `place`. */
static void write_file(const char *path, size_t size, size_t place) {
    char *bytes = calloc(size, 1);
    FILE *file = fopen(path, "w");
    assert_true(bytes && file && place < size);
    bytes[place] = 1;
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

/* Checks files of different folders. */
static void assert_checked(int warnings, int reads, const char *const *paths, size_t count) {
    struct build_part parts[FILES_MAX] = {{0}};
    struct named_shards list;
    for (size_t i = 0; i < count; i++) assert_non_null(parts[i].resolved = strdup(paths[i]));
    assert_int_equal(named_shards_init(&list, parts, count, NULL), RECMAP_OK);
    read_count = warning_count = 0;
    recmap_set_warn(count_warning, NULL);
    assert_int_equal(shard_files_check(&list, NULL), RECMAP_OK);
    recmap_set_warn(NULL, NULL);
    assert_int_equal(warning_count, warnings);
    assert_int_equal(read_count, reads);
    named_shards_deinit(&list);
    for (size_t i = 0; i < count; i++) free(parts[i].resolved);
}

#define CHECKED(warnings, reads, ...)                                                              \
    assert_checked(warnings, reads, (const char *const[]){__VA_ARGS__},                            \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static int enter(void **state) {
    if (folder_enter(state)) return -1;
    return mkdir("a", 0777) || mkdir("b", 0777) || mkdir("c", 0777);
}

static void test_equal_files_of_two_folders_are_told(void **state) {
    (void)state;
    write_file("a/x", LARGE, 0);
    write_file("b/x", LARGE, 0);
    CHECKED(1, 16, "a/x", "b/x");
    write_file("b/x", LARGE, LARGE - 1);
    CHECKED(0, 2, "a/x", "b/x");
    write_file("a/x", LARGE, LARGE - 2);
    CHECKED(0, 16, "a/x", "b/x");
    write_file("a/x", LARGE + 1, LARGE - 1);
    CHECKED(0, 0, "a/x", "b/x");
    write_file("b/y", LARGE + 1, LARGE - 1);
    CHECKED(0, 0, "a/x", "b/y");
}

/* The empty shards of a compressed set are equal without being copies. */
static void test_small_files_may_be_equal(void **state) {
    (void)state;
    write_file("a/x", 4095, 0);
    write_file("b/x", 4095, 0);
    CHECKED(0, 0, "a/x", "b/x");
    write_file("a/x", 4096, 0);
    write_file("b/x", 4096, 0);
    CHECKED(1, 16, "a/x", "b/x");
}

/* Most files of one name and size differ in their first samples: no more is read of them. */
static void test_more_is_read_only_of_files_that_begin_alike(void **state) {
    (void)state;
    write_file("a/x", LARGE, 0);
    write_file("b/x", LARGE, 1);
    write_file("c/x", LARGE, 2);
    CHECKED(0, 3, "a/x", "b/x", "c/x");
    write_file("c/x", LARGE, 0);
    CHECKED(1, 3 + 2 * 7, "a/x", "b/x", "c/x");
}

static void test_files_that_are_not_there_are_not_told(void **state) {
    (void)state;
    write_file("a/x", LARGE, 0);
    CHECKED(0, 0, "a/x", "b/x");
    write_file("b/x", LARGE, 0);
    assert_int_equal(chmod("a/x", 0), 0);
    assert_int_equal(chmod("b/x", 0), 0);
    if (geteuid()) CHECKED(0, 0, "a/x", "b/x");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(equal_files_of_two_folders_are_told),
        TEST(small_files_may_be_equal),
        TEST(more_is_read_only_of_files_that_begin_alike),
        TEST(files_that_are_not_there_are_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
