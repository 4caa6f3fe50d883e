/* Lock files: one holder at a time, also when the holder dies or the file vanishes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/lock_file.h"
#include "support/folder.h"
#include "support/index/build.h"

static bool try_lock(struct lock_file *lock) {
    bool is_held = false;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(lock_file_try(lock, &is_held, "target", &error), &error);
    return is_held;
}

static void test_one_holder_at_a_time(void **state) {
    (void)state;
    struct lock_file first = LOCK_FILE_INIT, second = LOCK_FILE_INIT;
    for (int i = 0; i < 3; i++) {
        assert_true(try_lock(&first));
        assert_true(file_exists("target.lock"));
        assert_false(try_lock(&second));
        assert_true(file_exists("target.lock"));
        lock_file_release(&first);
        assert_int_equal(folder_count(), 0);
        assert_true(try_lock(&second));
        lock_file_release(&second);
    }
}

/* A child that is killed leaves the file, but not the lock. */
static void test_dead_holder_leaves_no_lock(void **state) {
    (void)state;
    struct lock_file lock = LOCK_FILE_INIT;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(try_lock(&lock) ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(file_exists("target.lock"));
    assert_true(try_lock(&lock));
    lock_file_release(&lock);
    assert_false(file_exists("target.lock"));
}

/* A forked child's copy of the lock does not remove the parent's file. */
static void test_child_leaves_the_file_alone(void **state) {
    (void)state;
    struct lock_file lock = LOCK_FILE_INIT, other = LOCK_FILE_INIT;
    assert_true(try_lock(&lock));
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        lock_file_release(&lock);
        _exit(file_exists("target.lock") ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(try_lock(&other));
    lock_file_release(&lock);
}

static void expect_refused(void) {
    struct lock_file lock = LOCK_FILE_INIT;
    bool is_held = true;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(lock_file_try(&lock, &is_held, "target", &error), RECMAP_IO);
    assert_string_equal(error.path, "target.lock");
    assert_true(error.message[0] && !is_held);
    assert_int_equal(folder_count(), 1);
}

/* Something of the user's that has the lock file's name is neither locked nor removed. */
static void test_files_of_the_user_are_kept(void **state) {
    (void)state;
    file_write("target.lock", "text", 4);
    expect_refused();
    assert_int_equal(unlink("target.lock"), 0);
    assert_int_equal(mkfifo("target.lock", 0600), 0);
    expect_refused();
    assert_int_equal(unlink("target.lock"), 0);
    assert_int_equal(symlink("elsewhere", "target.lock"), 0);
    expect_refused();
}

/* Without permission, the folder is the cause if there is no lock file, and another user if there
 * is one. Without a folder, no lock file can ever be created. */
static void test_errors_name_the_cause(void **state) {
    (void)state;
    struct lock_file lock = LOCK_FILE_INIT;
    bool is_held = true;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(lock_file_try(&lock, &is_held, "missing/target", &error), RECMAP_IO);
    assert_string_equal(error.path, "missing/target.lock");
    if (geteuid()) skip(); /* only root can become another user */
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(seteuid(65534), 0);
    assert_int_equal(lock_file_try(&lock, &is_held, "target", &error), RECMAP_IO);
    assert_non_null(strstr(error.message, "in this folder"));
    assert_non_null(strstr(error.advice, "must be writable"));
    assert_int_equal(seteuid(0), 0);
    file_write("target.lock", "", 0);
    assert_int_equal(chmod("target.lock", 0600), 0);
    assert_int_equal(seteuid(65534), 0);
    assert_int_equal(lock_file_try(&lock, &is_held, "target", &error), RECMAP_IO);
    assert_int_equal(seteuid(0), 0);
    assert_non_null(strstr(error.advice, "another user is appending"));
}

static void test_folder_has_one_lock(void **state) {
    (void)state;
    recmap_error error;
    int lock, other = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(folder_lock(&lock, "target", &error), RECMAP_OK);
    assert_true(lock >= 0 && other >= 0);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    folder_unlock(lock);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    close(other);
    assert_int_equal(folder_lock(&lock, "missing/target", &error), RECMAP_OK);
    assert_int_equal(lock, -1);
    assert_int_equal(folder_count(), 0);
}

/* Without descriptors the folder could be locked a moment later: nothing may be replaced unlocked.
 */
static void test_folder_is_not_left_unlocked_for_a_moment(void **state) {
    (void)state;
    struct rlimit limit, none;
    recmap_error error;
    int lock;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    recmap_status status = folder_lock(&lock, "target", &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(status, RECMAP_IO);
    assert_int_equal(error.system_errno, EMFILE);
    assert_string_equal(error.path, ".");
    assert_string_equal(error.advice, "nothing was replaced: try again");
}

/* The previous holder's file was removed and created again while it was locked: the new one is
 * free. */
static void test_lock_without_a_name_excludes_nobody(void **state) {
    (void)state;
    struct lock_file first = LOCK_FILE_INIT, second = LOCK_FILE_INIT;
    assert_true(try_lock(&first));
    assert_int_equal(unlink("target.lock"), 0);
    assert_true(try_lock(&second));
    lock_file_release(&second);
    lock_file_release(&first);
    assert_int_equal(folder_count(), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_folder_has_one_lock),
        IN_FOLDER(test_folder_is_not_left_unlocked_for_a_moment),
        IN_FOLDER(test_one_holder_at_a_time),
        IN_FOLDER(test_dead_holder_leaves_no_lock),
        IN_FOLDER(test_child_leaves_the_file_alone),
        IN_FOLDER(test_files_of_the_user_are_kept),
        IN_FOLDER(test_errors_name_the_cause),
        IN_FOLDER(test_lock_without_a_name_excludes_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
