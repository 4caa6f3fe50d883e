/* What a cache counts as used: no more than its files have, whatever failed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/private_file.h"
#include "storage/cache/cache_file.h"
#include "storage/cache/cached_source.h"
#include "support/folder.h"
#include "support/index/build.h"

enum { SIZE = 64 * CACHE_BLOCK, LIMIT = 64 << 20 };

static const struct cache_key key = {"s3://bucket/a", "\"1\"", SIZE, 0, 0};

static struct disk_cache *open_cache(uint64_t limit) {
    struct disk_cache *cache = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(disk_cache_open(&cache, "cache", limit, &error), &error);
    return cache;
}

/* The bytes in use, as a cache that was closed left them. */
static uint64_t find_usage(void) {
    uint64_t used;
    struct buffer usage = file_read("cache/usage");
    memcpy(&used, usage.data + 16, sizeof used);
    buffer_deinit(&usage);
    return used;
}

/* ---- An object whose requests fail on demand. */

struct object {
    struct source source;
    bool fails;
};

static recmap_status read_object(size_t *failed, const struct source_read *reads, size_t count,
                                 struct interrupt *interrupt, recmap_error *error) {
    (void)interrupt;
    *failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (((struct object *)reads[i].source)->fails) return error->status = RECMAP_IO;
        memset(reads[i].data, 'x', reads[i].size);
    }
    return RECMAP_OK;
}

static void close_object(struct source *source) {
    (void)source;
}

static const struct source_table object_table = {read_object, close_object, NULL, NULL, NULL};

static struct object object_init(void) {
    return (struct object){.source = {.table = &object_table,
                                      .fd = -1,
                                      .name = key.url,
                                      .etag = key.etag,
                                      .stat = {.size = SIZE}}};
}

static void read_block(struct source *source, uint64_t block, recmap_status expected) {
    uint8_t data[CACHE_BLOCK];
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(source_read(source, data, sizeof data, block * CACHE_BLOCK, &error), expected);
    assert_int_equal(error.status, expected);
    if (expected == RECMAP_OK) assert_int_equal(data[7], 'x');
}

static void test_requests_that_fail_give_back_their_space(void **state) {
    (void)state;
    struct disk_cache *cache = open_cache(LIMIT);
    struct object object = object_init();
    struct source *source = &object.source;
    cached_source_replace(&source, cache, true);
    assert_ptr_not_equal(source, &object.source);
    read_block(source, 0, RECMAP_OK);
    object.fails = true;
    for (uint64_t block = 1; block < SIZE / CACHE_BLOCK; block++)
        read_block(source, block, RECMAP_IO);
    read_block(source, 0, RECMAP_OK);
    source_close(source);
    disk_cache_close(cache);
    assert_int_equal(find_usage(), 8192 + 4096 + CACHE_BLOCK);
}

static void test_forgotten_blocks_are_counted_once(void **state) {
    (void)state;
    struct disk_cache *cache = open_cache(LIMIT);
    struct object object = object_init();
    struct source *source = &object.source;
    cached_source_replace(&source, cache, true);
    for (int i = 0; i < 10; i++) {
        read_block(source, 3, RECMAP_OK);
        source_forget(source, 3 * CACHE_BLOCK + 5, 9);
    }
    read_block(source, 3, RECMAP_OK);
    source_close(source);
    disk_cache_close(cache);
    assert_int_equal(find_usage(), 8192 + 4096 + CACHE_BLOCK);
}

static void test_a_file_that_cannot_be_created_uses_no_space(void **state) {
    (void)state;
    char path[PATH_ROOM] = "cache/";
    struct disk_cache *cache = open_cache(LIMIT);
    cache_name_write(path + strlen(path), &key);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_null(cache_file_open(cache, &key));
    disk_cache_close(cache);
    assert_int_equal(find_usage(), 0);
}

/* ---- Limits. */

static void test_a_part_that_is_too_long_does_not_stop_the_cache(void **state) {
    (void)state;
    struct disk_cache *cache = open_cache(LIMIT);
    assert_false(disk_cache_reserve(cache, LIMIT + 1));
    assert_true(disk_cache_reserve(cache, CACHE_BLOCK));
    assert_false(disk_cache_reserve(cache, LIMIT));
    assert_true(disk_cache_reserve(cache, LIMIT / 2));
    disk_cache_settle(cache, LIMIT / 2, 0);
    disk_cache_settle(cache, CACHE_BLOCK, 0);
    disk_cache_stop(cache, &(recmap_error){.status = RECMAP_IO, .message = "write the file"});
    assert_false(disk_cache_reserve(cache, 1));
    disk_cache_close(cache);
    assert_int_equal(find_usage(), 0);
}

/* As workers of Python's multiprocessing end. */
static void reserve_in_child(struct disk_cache *cache) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(disk_cache_reserve(cache, CACHE_BLOCK) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_space_of_processes_that_ended_is_recovered(void **state) {
    (void)state;
    struct disk_cache *cache = open_cache(LIMIT);
    assert_true(disk_cache_reserve(cache, LIMIT / 4)); /* this process keeps what it reserved */
    for (int i = 0; i < 60; i++) reserve_in_child(cache);
    assert_false(disk_cache_reserve(cache, LIMIT));
    assert_true(disk_cache_reserve(cache, LIMIT / 2));
    assert_false(disk_cache_reserve(cache, LIMIT / 2));
    disk_cache_close(cache);
}

/* Two keys may have the same name. The second object is read without the cache, and the first one
 * keeps its file, which may be in use. */
static void test_a_file_serves_its_own_key_only(void **state) {
    (void)state;
    static const struct cache_key other = {"s3://bucket/a", "\"2\"", SIZE, 0, 0};
    char path[64] = "cache/", other_path[64] = "cache/";
    struct disk_cache *cache = open_cache(LIMIT);
    struct cache_file *file = cache_file_open(cache, &key);
    assert_non_null(file);
    cache_name_write(path + strlen(path), &key);
    cache_name_write(other_path + strlen(other_path), &other);
    assert_string_not_equal(path, other_path);
    assert_int_equal(link(path, other_path), 0);
    assert_int_equal(unlink(path), 0);
    struct buffer before = file_read(other_path);
    assert_null(cache_file_open(cache, &other));
    struct buffer after = file_read(other_path);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    assert_int_equal(rename(other_path, path), 0);
    cache_file_close(file);
    assert_non_null(file = cache_file_open(cache, &key));
    assert_true(disk_cache_reserve(cache, CACHE_BLOCK)); /* the cache still grows */
    cache_file_close(file);
    disk_cache_close(cache);
    buffer_deinit(&before);
    buffer_deinit(&after);
}

/* A file that a loss of power left without its header is made again. */
static void test_a_damaged_header_is_replaced(void **state) {
    (void)state;
    char path[64] = "cache/";
    struct disk_cache *cache = open_cache(LIMIT);
    cache_file_close(cache_file_open(cache, &key));
    cache_name_write(path + strlen(path), &key);
    file_write(path, "recmap", 6);
    assert_int_equal(chmod(path, 0600), 0);
    struct cache_file *file = cache_file_open(cache, &key);
    assert_non_null(file);
    cache_file_close(file);
    disk_cache_close(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_serves_its_own_key_only, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_a_damaged_header_is_replaced, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_requests_that_fail_give_back_their_space, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_forgotten_blocks_are_counted_once, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_a_file_that_cannot_be_created_uses_no_space,
                                        folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_a_part_that_is_too_long_does_not_stop_the_cache,
                                        folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_space_of_processes_that_ended_is_recovered,
                                        folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
