/* What bindings call: a record in two halves, the hashes of ids, a wait for a loader that ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/process.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 500, SHARDS = 7 };

/* peek followed by check returns the very bytes that get returns, for every record, and peek
 * refuses numbers that are out of range. */
static void test_peek_is_get_in_two_halves(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < RECORDS; i++) {
        recmap_peek peek;
        recmap_record record;
        assert_true(recmap_dataset_peek(&peek, dataset, i));
        ASSERT_OK(recmap_dataset_check(dataset, &peek, &error), &error);
        ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
        assert_ptr_equal(peek.data, record.data);
        assert_int_equal(peek.size, record.size);
        assert_int_equal(peek.number, i);
        recmap_record_release(&record);
    }
    recmap_peek none;
    assert_false(recmap_dataset_peek(&none, dataset, RECORDS));
    assert_false(recmap_dataset_peek(&none, dataset, UINT64_MAX));
    recmap_dataset_close(dataset);
}

static void test_check_finds_what_get_finds(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    numbered_flip(dataset, 123);
    recmap_peek peek;
    recmap_record record;
    recmap_error by_check = RECMAP_ERROR_INIT, by_get = RECMAP_ERROR_INIT;
    assert_true(recmap_dataset_peek(&peek, dataset, 123));
    assert_int_equal(recmap_dataset_check(dataset, &peek, &by_check), RECMAP_CORRUPT);
    assert_int_equal(recmap_dataset_get(&record, dataset, 123, &by_get), RECMAP_CORRUPT);
    assert_int_equal(by_check.record, 123);
    assert_int_equal(by_check.offset, by_get.offset);
    assert_string_equal(by_check.message, by_get.message);
    recmap_dataset_close(dataset);
}

static void test_no_peek_where_records_must_be_released(void **state) {
    (void)state;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_peek peek;
    options.access = RECMAP_ACCESS_READ;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, &options);
    assert_false(recmap_dataset_peek(&peek, dataset, 0));
    recmap_dataset_close(dataset);
    options = (recmap_dataset_options)RECMAP_DATASET_OPTIONS_INIT;
    options.shard_limit = 1;
    dataset = numbered_open(RECORDS, SHARDS, &options);
    assert_false(recmap_dataset_peek(&peek, dataset, 0));
    recmap_dataset_close(dataset);
}

static void test_no_hashes_without_ids(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    uint64_t hashes[RECORDS] = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_dataset_read_id_hashes(hashes, dataset, &error), &error);
    for (size_t i = 0; i < RECORDS; i++) assert_true(hashes[i] == RECMAP_NO_ID_HASH);
    recmap_dataset_close(dataset);
}

static void test_wait_ends(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 50;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order;
    ASSERT_OK(recmap_order_sequential(&order, RECORDS, &error), &error);
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    for (int step = 0; step <= RECORDS / 50; step++) { /* the end of the epoch is waited for too */
        int is_ready = 0;
        while (!is_ready) ASSERT_OK(recmap_loader_wait(&is_ready, loader, 1000000, &error), &error);
        ASSERT_OK(recmap_loader_wait(&is_ready, loader, 0, &error), &error);
        assert_true(is_ready);
        next_batch(&batch, loader);
    }
    assert_null(batch);
    assert_stands_at(loader, 1, 0);
    loader_close(loader, order, dataset);
}

static void test_an_error_is_ready(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    numbered_flip(dataset, 0);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order;
    ASSERT_OK(recmap_order_sequential(&order, RECORDS, &error), &error);
    recmap_loader *loader = loader_open(dataset, order, NULL);
    recmap_batch *batch = NULL;
    for (int again = 0; again < 2; again++) {
        int is_ready = 0;
        while (!is_ready) ASSERT_OK(recmap_loader_wait(&is_ready, loader, 1000000, &error), &error);
        assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_CORRUPT);
    }
    loader_close(loader, order, dataset);
}

/* A parser that waits for its gate to be opened, so that no batch is ready before. */
static recmap_status wait_at_gate(recmap_row *row, const recmap_record *record, void *context) {
    (void)record;
    atomic_bool *is_open = context;
    while (!*is_open) usleep(1000);
    const int64_t value = 1;
    return recmap_row_set_int64(row, 0, &value, 1);
}

static void *open_soon(void *context) {
    usleep(30000);
    *(atomic_bool *)context = true;
    return NULL;
}

/* A wait ends by the clock that nobody sets. */
static void test_time_only_goes_forward(void **state) {
    (void)state;
    enum { NS_A_SECOND = 1000000000, HOUR = 3600 };
    uint64_t before_ns = clock_ns();
    struct timespec until = clock_until(HOUR * (uint64_t)NS_A_SECOND + NS_A_SECOND - 1);
    uint64_t until_ns = (uint64_t)until.tv_sec * NS_A_SECOND + (uint64_t)until.tv_nsec;
    uint64_t due_ns = (HOUR + 1) * (uint64_t)NS_A_SECOND - 1;
    assert_in_range(until.tv_nsec, 0, NS_A_SECOND - 1);
    assert_in_range(until_ns, before_ns + due_ns, clock_ns() + due_ns);
}

/* The time that is over ends a wait, and so does a batch that becomes ready. */
static void test_wait_ends_after_its_time_or_with_a_batch(void **state) {
    (void)state;
    enum { WAIT_NS = 20000000, LONG_SECONDS = 1000 };
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    const recmap_feature feature = {
        .name = "value", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64};
    atomic_bool is_open = false;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    ASSERT_OK(
        recmap_parser_create_custom(&options.parser, &feature, 1, wait_at_gate, &is_open, &error),
        &error);
    recmap_order *order = order_of_kind(0, RECORDS, 1);
    recmap_loader *loader = loader_open(dataset, order, &options);
    for (uint64_t wait_ns = 0; wait_ns <= WAIT_NS; wait_ns += WAIT_NS) {
        int is_ready = 1;
        uint64_t started_ns = clock_ns();
        ASSERT_OK(recmap_loader_wait(&is_ready, loader, wait_ns, &error), &error);
        assert_false(is_ready);
        assert_true(clock_ns() - started_ns >= wait_ns / 2);
        assert_stands_at(loader, 0, 0);
    }
    pthread_t opener;
    int is_ready = 0;
    assert_int_equal(pthread_create(&opener, NULL, open_soon, &is_open), 0);
    ASSERT_OK(recmap_loader_wait(&is_ready, loader, LONG_SECONDS * UINT64_C(1000000000), &error),
              &error);
    assert_true(is_ready);
    assert_int_equal(pthread_join(opener, NULL), 0);
    recmap_loader_destroy(loader);
    recmap_parser_release(options.parser);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_peek_is_get_in_two_halves, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_check_finds_what_get_finds, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_no_peek_where_records_must_be_released, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_no_hashes_without_ids, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_wait_ends, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_an_error_is_ready, folder_enter, folder_leave),
        cmocka_unit_test(test_time_only_goes_forward),
        cmocka_unit_test_setup_teardown(test_wait_ends_after_its_time_or_with_a_batch, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
