/* Limits of the process and of the disk: a store that cannot be written or read ends in an error
 * that names the limit. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "support/emulation.h"
#include "support/index/store_file.h"

/* Builds until an error or the end; the error must say which limit was met. */
static int build_to_error(int expected_errno) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer = NULL;
    static uint8_t bytes[100000];
    recmap_status status = store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error);
    for (uint64_t i = 0; status == RECMAP_OK && i < 2000; i++) {
        struct store_key key = {i, 0};
        status = store_writer_put(writer, STORE_OFFSETS, key, bytes, sizeof bytes, &error);
    }
    if (status == RECMAP_OK) status = store_writer_finish(writer, NULL, NULL, &error);
    store_writer_destroy(writer);
    if (status == RECMAP_OK) return 10;
    if (error.system_errno != expected_errno) {
        fprintf(stderr, "%s: errno %d, expected %d\n", error.message, error.system_errno,
                expected_errno);
        return 11;
    }
    return strncmp(error.path, path, strlen(path)) || !error.advice[0] ? 12 : 0;
}

static int in_child(int (*run)(uint64_t), uint64_t argument) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(run(argument));
    }
    int result;
    waitpid(child, &result, 0);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static int limit_file_size(uint64_t size) {
    struct rlimit limit = {size, size};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    return build_to_error(EFBIG);
}

static void a_limit_of_file_size_is_named(void **state) {
    (void)state;
    sample_write(path);
    static const uint64_t sizes[] = {0,        100,      8191,     8192,    12288,
                                     65536,    100001,   1000000,  5000000, 33 << 20,
                                     40000001, 66 << 20, 150 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(in_child(limit_file_size, sizes[i]), 0);
    struct store *opened = open_store(NULL);
    expect_sample(opened);
    store_close(opened);
}

/* A file system of its own for the child alone, where that is allowed. */
static int fill_disk(uint64_t size) {
    char options[64];
    snprintf(options, sizeof options, "size=%llu", (unsigned long long)size);
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", folder, "tmpfs", 0, options))
        return 77;
    int result = build_to_error(ENOSPC);
    return rmdir(path) && errno == ENOENT ? result : 13;
}

static void a_full_disk_is_named(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 32; i++) {
        int result = in_child(fill_disk, 65536 + i * 6000000);
        if (result == 77) skip();
        assert_int_equal(result, 0);
    }
}

/* Address space beyond what the process has now. */
static bool limit_memory(uint64_t extra) {
    FILE *stream = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!stream || fscanf(stream, "%lu", &pages) != 1) return false;
    fclose(stream);
    uint64_t size = pages * (uint64_t)sysconf(_SC_PAGESIZE) + extra;
    struct rlimit limit = {size, size};
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

static int write_and_read(uint64_t size) {
    struct store *opened = NULL;
    if (!limit_memory(size)) return 77;
    sample_write(path);
    recmap_status status = store_open(&opened, path, NULL, NULL);
    store_close(opened);
    return status != RECMAP_OK;
}

static int read_too_much(uint64_t size) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    struct store_options options = {.in_memory = true};
    if (!limit_memory(size)) return 77;
    if (store_open(&opened, path, NULL, &error) != RECMAP_NO_MEMORY || !error.advice[0]) return 1;
    if (strcmp(error.message, "cannot map the file: Cannot allocate memory")) return 2;
    if (store_open(&opened, path, &options, &error) != RECMAP_NO_MEMORY) return 3;
    return strcmp(error.path, path) || !error.advice[0] ? 4 : 0;
}

static void limits_of_address_space(void **state) {
    (void)state;
    if (is_emulated(__func__, "limits of address space are ignored")) skip();
    if (is_sanitized) skip();
    assert_int_equal(in_child(write_and_read, 48 << 20), 0);
    assert_int_equal(write_large_store(path), 0);
    assert_int_equal(in_child(read_too_much, 32 << 20), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_limit_of_file_size_is_named, enter, leave),
        cmocka_unit_test_setup_teardown(a_full_disk_is_named, enter, leave),
        cmocka_unit_test_setup_teardown(limits_of_address_space, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
