#define _GNU_SOURCE
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/index/store_file.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
const bool is_sanitized = true;
#else
const bool is_sanitized = false;
#endif
#else
const bool is_sanitized = false;
#endif

char folder[64];
char path[96];

int enter(void **state) {
    (void)state;
    const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(folder, sizeof folder, "%s/recmap-store-XXXXXX", base);
    snprintf(path, sizeof path, "%s/index.rmx", mkdtemp(folder) ? folder : "");
    return folder[0] ? 0 : -1;
}

int leave(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if files are left over */
}

void expect_ok(recmap_status status, const recmap_error *error) {
    if (status != RECMAP_OK) fail_msg("%s: %s", recmap_status_name(status), error->message);
}

struct store *open_store(const struct store_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    expect_ok(store_open(&opened, path, options, &error), &error);
    return opened;
}

void expect_sample(struct store *opened) {
    static uint8_t expected[SAMPLE_VALUE_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(opened, (enum store_table)table, &count);
        assert_int_equal(count, sample_count((enum store_table)table));
        for (size_t i = 0; i < count; i++) {
            struct store_key key = sample_key((enum store_table)table, i);
            size_t size = sample_value(expected, (enum store_table)table, i);
            assert_int_equal(values[i].key.chunk, key.chunk);
            assert_int_equal(values[i].key.series, key.series);
            assert_int_equal(values[i].size, size);
            expect_ok(store_check(opened, (enum store_table)table, i, &error), &error);
            assert_memory_equal(values[i].data, expected, size);
        }
    }
}

void write_empty_store(void) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    expect_ok(store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error), &error);
    expect_ok(store_writer_finish(writer, NULL, NULL, &error), &error);
    store_writer_destroy(writer);
}

static void put_many(struct store_writer *writer) {
    enum { LARGEST = 3 << 20 };
    uint8_t *bytes = malloc(LARGEST);
    assert_non_null(bytes);
    uint64_t random = 1;
    for (uint64_t i = 0; i < 5000 * STORE_TABLE_COUNT; i++) {
        enum store_table table = (enum store_table)(i % STORE_TABLE_COUNT);
        struct store_key key = {i, (uint32_t)(i * 7)};
        size_t size = i % 500 == 0 ? LARGEST : random_below(&random, i % 50 ? 60 : 9000);
        memset(bytes, (int)i, size);
        assert_int_equal(store_writer_put(writer, table, key, bytes, size, NULL), RECMAP_OK);
    }
    free(bytes);
}

int write_large_store(const char *target) {
    struct store_writer *writer;
    if (store_writer_create(&writer, target, LEFTOVERS_REMOVE, NULL) != RECMAP_OK) return 1;
    put_many(writer);
    recmap_status status = store_writer_finish(writer, NULL, NULL, NULL);
    store_writer_destroy(writer);
    return status != RECMAP_OK;
}
