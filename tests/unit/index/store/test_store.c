/* The sealed store: what is put comes back, equal puts give equal bytes, and what happens to the
 * file ends in a stated error. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "index/store/seal.h"
#include "support/emulation.h"
#include "support/index/store_file.h"

static const char *program;

static recmap_error expect_refused(const struct store_options *options, recmap_status expected) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    assert_int_equal(store_open(&opened, path, options, &error), expected);
    assert_null(opened);
    assert_int_equal(error.status, expected);
    return error;
}

static void values_come_back(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    sample_write(path);
    for (int mode = 0; mode < 4; mode++) {
        struct store_options options = {.check_all = mode & 1, .in_memory = mode & 2};
        struct store *opened = open_store(&options);
        expect_sample(opened);
        assert_string_equal(store_path(opened), path);
        struct stat stat_now;
        assert_int_equal(stat(path, &stat_now), 0);
        assert_int_equal(store_size(opened), stat_now.st_size);
        assert_true(store_intact(opened));
        expect_ok(store_check_all(opened, &error), &error);
        store_close(opened);
    }
    store_close(NULL);
}

static void a_store_may_be_empty(void **state) {
    (void)state;
    write_empty_store();
    struct store *opened = open_store(NULL);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count = 1;
        store_values(opened, (enum store_table)table, &count);
        assert_int_equal(count, 0);
    }
    assert_true(store_intact(opened));
    store_close(opened);
}

static void keys_must_ascend(void **state) {
    (void)state;
    static const struct store_key bad[] = {{5, 7}, {5, 6}, {4, 9}};
    for (size_t i = 0; i < 3; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct store_writer *writer;
        struct store_key first = {5, 7}, other = {0, 0};
        expect_ok(store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error), &error);
        expect_ok(store_writer_put(writer, STORE_IDS, first, "a", 1, &error), &error);
        expect_ok(store_writer_put(writer, STORE_COLUMNS, other, "b", 1, &error), &error);
        assert_int_equal(store_writer_put(writer, STORE_IDS, bad[i], "c", 1, &error),
                         RECMAP_INVALID);
        assert_string_equal(error.message, "keys of table ids must ascend");
        struct store_key last = {9, 9};
        assert_int_equal(store_writer_put(writer, STORE_IDS, last, "d", 1, &error), RECMAP_INVALID);
        assert_int_equal(store_writer_finish(writer, NULL, NULL, &error), RECMAP_INVALID);
        store_writer_destroy(writer);
    }
}

static void values_have_a_limit(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    struct store_key key = {0, 0};
    expect_ok(store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error), &error);
    assert_int_equal(store_writer_put(writer, STORE_IDS, key, "", STORE_VALUE_LIMIT + 1, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message,
                        "a value of 1073741825 bytes is over the limit of 1073741824");
    store_writer_destroy(writer);
    store_writer_destroy(NULL);
}

static recmap_status say_no(void *context, recmap_error *error) {
    struct stat now;
    assert_int_equal(stat(context, &now), 0);
    error->status = RECMAP_MISMATCH;
    return RECMAP_MISMATCH;
}

static void nothing_is_left_of_an_unfinished_store(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    sample_write(path);
    for (int finish = 0; finish < 2; finish++) {
        struct store_writer *writer;
        struct store_key key = {0, 0};
        expect_ok(store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error), &error);
        expect_ok(store_writer_put(writer, STORE_IDS, key, "a", 1, &error), &error);
        if (finish)
            assert_int_equal(store_writer_finish(writer, say_no, path, &error), RECMAP_MISMATCH);
        store_writer_destroy(writer);
        struct store *opened = open_store(NULL);
        expect_sample(opened);
        store_close(opened);
    }
}

/* Values of many sizes over all tables: some transactions, trees of several levels. */
static void build_in_a_process(const char *target, const char *perturb) {
    pid_t child = fork();
    if (child == 0) {
        setenv("MALLOC_PERTURB_", perturb, 1);
        execl(program, program, "--build", target, (char *)NULL);
        _exit(127);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void same_puts_give_same_bytes(void **state) {
    (void)state;
    if (is_emulated(__func__, "a program does not start another one")) skip();
    char other[128];
    snprintf(other, sizeof other, "%s/another-name", folder);
    /* Two processes: other addresses, other stale memory. */
    build_in_a_process(path, "1");
    build_in_a_process(other, "202");
    struct store_file a = file_load(path), b = file_load(other);
    unlink(other);
    assert_true(a.size > 100 << 20);
    assert_int_equal(a.size, b.size);
    assert_int_equal(memcmp(a.bytes, b.bytes, a.size), 0);
    file_deinit(&a);
    file_deinit(&b);
    struct store *opened = open_store(NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(opened, (enum store_table)table, &count);
        assert_int_equal(count, 5000);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(values[i].key.chunk, i * STORE_TABLE_COUNT + (size_t)table);
            expect_ok(store_check(opened, (enum store_table)table, i, &error), &error);
        }
    }
    store_close(opened);
}

/* Flips one byte of a value. */
static void flip(uint64_t offset) {
    struct store_file file = file_load(path);
    file.bytes[offset] ^= 0x40;
    file_save(path, file.bytes, file.size);
    file_deinit(&file);
}

/* Flips each byte of a value and its prefix in the file, one at a time. Reading that value reports
 * it, again and again; other values stay readable; and a complete check finds it too. */
static void every_byte_of_a_value_counts(void **state) {
    (void)state;
    sample_write(path);
    struct store *opened = open_store(NULL);
    size_t count;
    const struct store_value *value = &store_values(opened, STORE_OFFSETS, &count)[0];
    assert_int_equal((uintptr_t)value->data % 32, 0);
    struct store_file file = file_load(path);
    uint64_t offset = 0;
    while (memcmp(file.bytes + offset, value->data - VALUE_PREFIX_SIZE, VALUE_PREFIX_SIZE + 64))
        offset++;
    offset += VALUE_PREFIX_SIZE;
    file_deinit(&file);
    store_close(opened);
    for (int at = -VALUE_PREFIX_SIZE; at < 200; at++) {
        recmap_error error = RECMAP_ERROR_INIT;
        flip(offset + (uint64_t)(int64_t)at);
        opened = open_store(NULL);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(store_check(opened, STORE_OFFSETS, 0, &error), RECMAP_CORRUPT);
            assert_string_equal(error.message,
                                "value 2.0 of table offsets does not match its hash");
            assert_string_equal(error.path, path);
            assert_int_equal(error.offset, offset);
        }
        expect_ok(store_check(opened, STORE_OFFSETS, 1, &error), &error);
        assert_int_equal(store_check_all(opened, &error), RECMAP_CORRUPT);
        store_close(opened);
        struct store_options options = {.check_all = true};
        error = expect_refused(&options, RECMAP_CORRUPT);
        assert_string_equal(error.message, "the hash of the file is not the one in its seal");
        flip(offset + (uint64_t)(int64_t)at);
    }
}

/* Exchanges the runs of pages of two large values. */
static void exchange(struct store_file *file, enum store_table a, size_t i, enum store_table b,
                     size_t j) {
    uint8_t *first = node_of(root_of(file, a), i) + NODE_LARGE_PAGE;
    uint8_t *second = node_of(root_of(file, b), j) + NODE_LARGE_PAGE;
    uint64_t page = get64(first);
    put64(first, get64(second));
    put64(second, page);
}

/* Values of one size under each other's keys: their own hashes are right, their place is not. */
static void a_value_belongs_to_its_table_and_key(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    expect_ok(store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error), &error);
    uint8_t bytes[10000];
    for (uint32_t i = 0; i < 6; i++) {
        struct store_key key = {7, i % 3};
        memset(bytes, (int)i, sizeof bytes);
        enum store_table table = i < 3 ? STORE_OFFSETS : STORE_IDS;
        expect_ok(store_writer_put(writer, table, key, bytes, sizeof bytes, &error), &error);
    }
    expect_ok(store_writer_finish(writer, NULL, NULL, &error), &error);
    store_writer_destroy(writer);
    struct store_file file = file_load(path);
    exchange(&file, STORE_OFFSETS, 0, STORE_OFFSETS, 1);
    exchange(&file, STORE_OFFSETS, 2, STORE_IDS, 2);
    file_save(path, file.bytes, file.size);
    file_deinit(&file);
    struct store *opened = open_store(NULL);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(store_check(opened, STORE_OFFSETS, i, &error), RECMAP_CORRUPT);
    expect_ok(store_check(opened, STORE_IDS, 0, &error), &error);
    expect_ok(store_check(opened, STORE_IDS, 1, &error), &error);
    assert_int_equal(store_check(opened, STORE_IDS, 2, &error), RECMAP_CORRUPT);
    store_close(opened);
}

static void other_kinds_of_files_are_refused(void **state) {
    (void)state;
    recmap_error error;
    alarm(5);
    error = expect_refused(NULL, RECMAP_IO);
    assert_int_equal(error.system_errno, ENOENT);
    assert_int_equal(mkdir(path, 0777), 0);
    error = expect_refused(NULL, RECMAP_IO);
    assert_string_equal(error.message, "is a folder, not a regular file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0666), 0);
    error = expect_refused(NULL, RECMAP_IO);
    assert_string_equal(error.message, "is a FIFO, not a regular file");
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    error = expect_refused(NULL, RECMAP_IO);
    assert_string_equal(error.message, "is a device, not a regular file");
    alarm(0);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A file of 1 TiB that is nearly all hole, forged so that all fits. */
static void a_huge_sparse_file_takes_no_time(void **state) {
    (void)state;
    if (is_emulated(__func__, "a TiB cannot be mapped")) skip();
    sample_write(path);
    struct store_file file = file_load(path);
    uint64_t page_size = page_size_of(&file), count = ((uint64_t)1 << 40) / page_size;
    uint8_t seal[SEAL_SIZE];
    put64(newer_meta(&file) + META_LAST_PAGE, count - 1);
    struct seal_fields fields = {.page_size = (uint32_t)page_size,
                                 .page_count = count,
                                 .file_size = count * page_size + SEAL_SIZE};
    seal_encode(seal, &fields);
    int fd = open(path, O_WRONLY);
    assert_true(pwrite(fd, file.bytes, file.size - SEAL_SIZE, 0) > 0);
    bool is_possible = pwrite(fd, seal, SEAL_SIZE, (off_t)(count * page_size)) == SEAL_SIZE;
    close(fd);
    file_deinit(&file);
    if (!is_possible) skip();
    double start = seconds_now();
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    recmap_status status = store_open(&opened, path, NULL, &error);
    /* A sanitizer may have left no piece of address space that is large enough. */
    if (is_sanitized && status == RECMAP_NO_MEMORY) skip();
    expect_ok(status, &error);
    assert_true(seconds_now() - start < 1);
    expect_sample(opened);
    store_close(opened);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (!is_sanitized) assert_true(usage.ru_maxrss < 700 << 10);
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "--build")) return write_large_store(arguments[2]);
    program = arguments[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_come_back, enter, leave),
        cmocka_unit_test_setup_teardown(a_store_may_be_empty, enter, leave),
        cmocka_unit_test_setup_teardown(keys_must_ascend, enter, leave),
        cmocka_unit_test_setup_teardown(values_have_a_limit, enter, leave),
        cmocka_unit_test_setup_teardown(nothing_is_left_of_an_unfinished_store, enter, leave),
        cmocka_unit_test_setup_teardown(same_puts_give_same_bytes, enter, leave),
        cmocka_unit_test_setup_teardown(every_byte_of_a_value_counts, enter, leave),
        cmocka_unit_test_setup_teardown(a_value_belongs_to_its_table_and_key, enter, leave),
        cmocka_unit_test_setup_teardown(other_kinds_of_files_are_refused, enter, leave),
        cmocka_unit_test_setup_teardown(a_huge_sparse_file_takes_no_time, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
