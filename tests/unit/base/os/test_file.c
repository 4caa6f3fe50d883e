/* Files: complete reads, names below a folder, and temporary files that replace their target. */
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

#include "base/os/file.h"
#include "support/folder.h"
#include "support/index/build.h"

static void make_folder(const char *path) {
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link(const char *target, const char *path) {
    assert_int_equal(symlink(target, path), 0);
}

static int open_file(const char *path) {
    int fd = -1;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(file_open(&fd, path, &error), &error);
    return fd;
}

/* Only regular files are opened. A FIFO without a writer would block an ordinary open. */
static void test_only_files_are_opened(void **state) {
    (void)state;
    make_folder("folder");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    file_write("file", "abc", 3);
    make_link("file", "link");
    file_close(open_file("file"));
    file_close(open_file("link"));
    const char *names[] = {"folder", "fifo", "/dev/null", "missing", "file/below"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int fd = -7;
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(file_open(&fd, names[i], &error), RECMAP_IO);
        assert_string_equal(error.path, names[i]);
        assert_true(error.message[0]);
    }
}

/* A name from an index cannot lead out of the folder. */
static void test_names_stay_beneath_the_folder(void **state) {
    (void)state;
    make_folder("root");
    make_folder("root/inner");
    file_write("secret", "abc", 3);
    file_write("root/inner/shard", "abc", 3);
    make_link("../secret", "root/link");
    make_link("inner", "root/inner-link");
    int fd = -1;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(file_open_beneath(&fd, "root", "inner/shard", false, "root/inner/shard", &error),
              &error);
    file_close(fd);
    const char *names[] = {"../secret",    "inner/../../secret", "/etc/passwd", "./inner/shard",
                           "inner//shard", "inner-link/shard",   "inner",       ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int allows = 0; allows < 2; allows++)
            if (file_open_beneath(&fd, "root", names[i], allows, names[i], &error) == RECMAP_OK)
                fail_msg("'%s' was opened", names[i]);
}

static recmap_status open_link(const char *name, bool allows_all_links, recmap_error *error) {
    int fd = -1;
    recmap_status status = file_open_beneath(&fd, "root", name, allows_all_links, name, error);
    file_close(fd);
    return status;
}

/* The last component may be the user's link to any file, but not to a folder or a FIFO. */
static void test_links_of_the_user_are_followed(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    make_folder("root");
    make_folder("root/inner");
    file_write("shard", "abc", 3);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    make_link("../shard", "root/link");
    make_link("../../shard", "root/inner/link");
    make_link("link", "root/second");
    make_link("inner", "root/folder");
    make_link("../fifo", "root/fifo");
    make_link("nowhere", "root/broken");
    make_link("circle", "root/circle");
    ASSERT_OK(open_link("link", false, &error), &error);
    ASSERT_OK(open_link("inner/link", false, &error), &error);
    ASSERT_OK(open_link("second", false, &error), &error);
    const char *names[] = {"folder", "fifo", "broken", "circle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(open_link(names[i], true, &error), RECMAP_IO);
        assert_string_equal(error.path, names[i]);
    }
}

/* In a shared folder, others can also make links: to files of their own, or with permission. */
static void test_links_of_others_are_not_followed(void **state) {
    (void)state;
    enum { OTHER = 65534, THIRD = 65533 };
    recmap_error error = RECMAP_ERROR_INIT;
    if (geteuid()) skip();
    make_folder("root");
    file_write("shard", "abc", 3);
    make_link("../shard", "root/link");
    assert_int_equal(lchown("root/link", OTHER, OTHER), 0);
    assert_int_equal(open_link("link", false, &error), RECMAP_INVALID);
    assert_string_equal(error.path, "link");
    assert_non_null(strstr(error.advice, "allow_absolute_paths"));
    ASSERT_OK(open_link("link", true, &error), &error);
    assert_int_equal(chown("shard", THIRD, THIRD), 0);
    assert_int_equal(open_link("link", false, &error), RECMAP_INVALID);
    assert_int_equal(chown("shard", OTHER, OTHER), 0);
    ASSERT_OK(open_link("link", false, &error), &error);
}

/* A read past the end says at which byte the file ends. */
static void test_reads_are_complete(void **state) {
    (void)state;
    file_write("file", "0123456789", 10);
    int fd = open_file("file");
    char data[11] = "";
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(file_read_at(fd, data, 4, 6, "file", &error), &error);
    assert_string_equal(data, "6789");
    ASSERT_OK(file_read_at(fd, data, 0, 10, "file", &error), &error);
    assert_int_equal(file_read_at(fd, data, 5, 6, "file", &error), RECMAP_IO);
    assert_int_equal(error.offset, 10);
    assert_string_equal(error.path, "file");
    file_close(fd);
}

static void test_stat_tells_a_changed_file(void **state) {
    (void)state;
    struct file_stat first, second;
    file_write("file", "abc", 3);
    assert_false(file_stat_path(&first, "missing"));
    assert_true(file_stat_path(&first, "file") && file_stat_path(&second, "file"));
    assert_true(file_is_same(&first, &second) && file_is_unchanged(&first, &second));
    file_set_time("file", file_time("file") + 1000);
    assert_true(file_stat_path(&second, "file"));
    assert_true(file_is_same(&first, &second));
    assert_false(file_is_unchanged(&first, &second));
    file_write("other", "abc", 3);
    assert_true(file_stat_path(&second, "other"));
    assert_false(file_is_same(&first, &second));
}

static void create(struct temporary_file *file, const char *content) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(temporary_create(file, "target", LEFTOVERS_REMOVE, &error), &error);
    ASSERT_OK(file_write_at(file->fd, content, strlen(content), 0, file->path, &error), &error);
}

static void assert_target(const char *content) {
    struct buffer bytes = file_read("target");
    assert_int_equal(bytes.size, strlen(content));
    assert_memory_equal(bytes.data, content, bytes.size);
    buffer_deinit(&bytes);
}

/* The target is the old file until the new one is published, and keeps its permissions. */
static void test_temporary_file_replaces_its_target(void **state) {
    (void)state;
    file_write("target", "old", 3);
    assert_int_equal(chmod("target", 0640), 0);
    struct temporary_file file = TEMPORARY_FILE_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    create(&file, "discarded");
    temporary_discard(&file);
    assert_int_equal(folder_count(), 1);
    create(&file, "new");
    assert_target("old");
    ASSERT_OK(temporary_publish(&file, &error), &error);
    temporary_discard(&file);
    assert_target("new");
    struct stat st;
    assert_int_equal(stat("target", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(folder_count(), 1);
}

/* What a dead writer left is removed. The file of a writer that lives is not, nor is a file that
 * only looks alike. */
static void test_dead_writers_are_cleaned_up(void **state) {
    (void)state;
    file_write("target.tmp-0123456789abcdef", "dead", 4);
    file_write("target.tmp-0123", "mine", 4);
    struct temporary_file first = TEMPORARY_FILE_INIT, second = TEMPORARY_FILE_INIT;
    create(&first, "first");
    assert_false(file_exists("target.tmp-0123456789abcdef"));
    create(&second, "second");
    assert_true(file_exists(first.path) && file_exists("target.tmp-0123"));
    temporary_discard(&first);
    temporary_discard(&second);
    assert_int_equal(folder_count(), 1);
}

/* As by a program that writes a set: the files of all targets are found with one listing. */
static void test_leftovers_of_many_targets(void **state) {
    (void)state;
    make_folder("inner");
    const char *names[] = {"a.tmp-0123456789abcdef",       "b.tmp-00000000000000aa",
                           "inner/a.tmp-0123456789abcdef", "ab.tmp-0123456789abcdef",
                           "c.tmp-0123456789abcdef",       "a.tmp-0123456789abcdeg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) file_write(names[i], "dead", 4);
    struct temporary_file file = TEMPORARY_FILE_INIT;
    create(&file, "alive");
    const char *targets[] = {"c", "target", "a", "inner/a", "b-not-there", "b"};
    temporary_remove_leftovers(targets, 1);
    assert_true(file_exists(names[0]) && !file_exists(names[4]));
    temporary_remove_leftovers(targets, 6);
    for (size_t i = 0; i < 3; i++) assert_false(file_exists(names[i]));
    assert_true(file_exists(names[3]) && file_exists(names[5]) && file_exists(file.path));
    temporary_discard(&file);
}

static void test_leftovers_may_be_kept(void **state) {
    (void)state;
    struct temporary_file file = TEMPORARY_FILE_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    file_write("target.tmp-0123456789abcdef", "dead", 4);
    ASSERT_OK(temporary_create(&file, "target", LEFTOVERS_KEEP, &error), &error);
    temporary_discard(&file);
    assert_int_equal(folder_count(), 1);
}

/* If another file has taken the temporary name, it is not published in place of the writer's. */
static void test_replaced_temporary_file_is_not_published(void **state) {
    (void)state;
    struct temporary_file file = TEMPORARY_FILE_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    create(&file, "mine");
    assert_int_equal(unlink(file.path), 0);
    file_write(file.path, "theirs", 6);
    assert_int_equal(temporary_publish(&file, &error), RECMAP_IO);
    assert_true(error.message[0] && !file_exists("target"));
    temporary_discard(&file);
}

static void assert_folder(const char *path, const char *folder, const char *name) {
    char *result = path_folder(path);
    assert_string_equal(result, folder);
    free(result);
    assert_string_equal(path_name(path), name);
}

static void test_paths_are_split_and_joined(void **state) {
    (void)state;
    assert_folder("name", ".", "name");
    assert_folder("a/b/name", "a/b", "name");
    assert_folder("/name", "/", "name");
    char *joined = path_join("a/b", "name");
    assert_string_equal(joined, "a/b/name");
    free(joined);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_only_files_are_opened),
        IN_FOLDER(test_names_stay_beneath_the_folder),
        IN_FOLDER(test_links_of_the_user_are_followed),
        IN_FOLDER(test_links_of_others_are_not_followed),
        IN_FOLDER(test_reads_are_complete),
        IN_FOLDER(test_stat_tells_a_changed_file),
        IN_FOLDER(test_temporary_file_replaces_its_target),
        IN_FOLDER(test_dead_writers_are_cleaned_up),
        IN_FOLDER(test_leftovers_of_many_targets),
        IN_FOLDER(test_leftovers_may_be_kept),
        IN_FOLDER(test_replaced_temporary_file_is_not_published),
        cmocka_unit_test(test_paths_are_split_and_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
