/* How much the page cache can hold, from what a forged kernel says about the machine and about
 * control groups of both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/memory/control_group.h"
#include "base/memory/page_cache.h"
#include "support/folder.h"

static void write_text(const char *path, const char *text) {
    file_write(path, text, strlen(text));
}

static void make_folders(const char *path) {
    char part[PATH_ROOM];
    for (size_t i = 0; path[i]; i++) {
        if (path[i + 1] && path[i + 1] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)i + 1, path);
        mkdir(part, 0755);
    }
}

static int enter(void **state) {
    if (folder_enter(state)) return 1;
    make_folders("proc/self");
    make_folders("sys/fs/cgroup/job/step");
    make_folders("sys/fs/cgroup/memory/job/step");
    write_text("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 5 kB\nMemAvailable:     600 kB\n"
                               "Mapped:            100 kB\n");
    kernel_file_force_root(".");
    return 0;
}

static int leave(void **state) {
    kernel_file_force_root(NULL);
    return folder_leave(state);
}

static void assert_size(uint64_t expected, uint64_t without_mapped) {
    assert_int_equal(page_cache_size(false), expected << 10);
    assert_int_equal(page_cache_size(true), without_mapped << 10);
}

static void test_without_groups_the_machine_decides(void **state) {
    (void)state;
    assert_size(600, 500);
    write_text("proc/self/cgroup", "0::/job\n");
    assert_size(600, 500);
}

static void test_without_knowledge_there_is_none(void **state) {
    (void)state;
    write_text("proc/meminfo", "MemTotal: 1000 kB\n");
    assert_size(0, 0);
    assert_int_equal(remove("proc/meminfo"), 0);
    assert_size(0, 0);
}

/* Of the 300 KiB in use, 200 are files, 20 of them in shared memory, and 30 are mapped. */
static void test_group_of_version_2(void **state) {
    (void)state;
    write_text("proc/self/cgroup", "0::/job/step\n");
    write_text("sys/fs/cgroup/job/memory.max", "409600\n");
    write_text("sys/fs/cgroup/job/memory.current", "307200\n");
    write_text("sys/fs/cgroup/job/memory.stat",
               "anon 1\nfile 204800\nfile_mapped 30720\nfile_dirty 9\nshmem 20480\n");
    write_text("sys/fs/cgroup/job/step/memory.max", "max\n");
    assert_size(400 - 120, 400 - 150);
    write_text("sys/fs/cgroup/job/memory.high", "153600\n");
    assert_size(150 - 120, 0);
    write_text("sys/fs/cgroup/job/memory.high", "102400\n");
    assert_size(0, 0);
}

static void test_group_of_version_1(void **state) {
    (void)state;
    write_text("proc/self/cgroup", "4:cpu,cpuacct:/job\n3:memory:/job/step\n0::/\n");
    write_text("sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "409600\n");
    write_text("sys/fs/cgroup/memory/job/step/memory.usage_in_bytes", "307200\n");
    write_text("sys/fs/cgroup/memory/job/step/memory.stat",
               "cache 1\ntotal_cache 204800\ntotal_shmem 20480\ntotal_mapped_file 30720\n");
    write_text("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_size(400 - 120, 400 - 150);
}

/* A group without statistics holds no files, as far as is known. */
static void test_group_without_statistics(void **state) {
    (void)state;
    write_text("proc/self/cgroup", "0::/job\n");
    write_text("sys/fs/cgroup/job/memory.max", "409600\n");
    write_text("sys/fs/cgroup/job/memory.current", "307200\n");
    assert_size(100, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_groups_the_machine_decides, enter, leave),
        cmocka_unit_test_setup_teardown(test_without_knowledge_there_is_none, enter, leave),
        cmocka_unit_test_setup_teardown(test_group_of_version_2, enter, leave),
        cmocka_unit_test_setup_teardown(test_group_of_version_1, enter, leave),
        cmocka_unit_test_setup_teardown(test_group_without_statistics, enter, leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
