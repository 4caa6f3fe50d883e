/* The memory that a process may use, with the limits of real control groups. Needs the right to
 * create groups; otherwise the tests are skipped. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/memory.h"

enum { PATH_SIZE = 200, LIMIT = 64 << 20 };

static const struct tree {
    const char *root, *file;
} version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
  version_2 = {"/sys/fs/cgroup", "memory.max"};

static bool write_number(const char *folder, const char *name, long long number) {
    char path[PATH_SIZE + 40], text[32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int size = snprintf(text, sizeof text, "%lld", number);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = file >= 0 && write(file, text, (size_t)size) == size;
    if (file >= 0) close(file);
    return is_written;
}

/* A group with a limit, and in it a group without one, to which the limit also applies. */
static bool make_groups(char *outer, char *inner, const struct tree *tree) {
    snprintf(outer, PATH_SIZE, "%s/recmap-test-%ld", tree->root, (long)getpid());
    snprintf(inner, PATH_SIZE, "%s/recmap-test-%ld/inner", tree->root, (long)getpid());
    return !mkdir(outer, 0755) && write_number(outer, tree->file, LIMIT) && !mkdir(inner, 0755);
}

static int measure_in(const char *group) {
    if (!write_number(group, "cgroup.procs", getpid())) return 2;
    return memory_size() == LIMIT ? 0 : 1;
}

static void check_tree(const struct tree *tree) {
    char outer[PATH_SIZE], inner[PATH_SIZE];
    int result = 2 << 8;
    if (make_groups(outer, inner, tree)) {
        pid_t child = fork();
        if (!child) _exit(measure_in(inner));
        assert_int_equal(waitpid(child, &result, 0), child);
    }
    rmdir(inner);
    rmdir(outer);
    if (WEXITSTATUS(result) == 2) skip();
    assert_int_equal(result, 0);
}

static void test_limit_of_version_1(void **state) {
    (void)state;
    check_tree(&version_1);
}

static void test_limit_of_version_2(void **state) {
    (void)state;
    check_tree(&version_2);
}

static void test_without_a_group(void **state) {
    (void)state;
    uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    errno = ENOENT;
    assert_true(memory_size() > 0 && memory_size() <= pages);
    assert_int_equal(errno, ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit_of_version_1),
                                       cmocka_unit_test(test_limit_of_version_2),
                                       cmocka_unit_test(test_without_a_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
