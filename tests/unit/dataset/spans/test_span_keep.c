/* How much is kept of what compressed shards inflate to is the user's to say. Whatever is said, the
 * records are the same, and no more is held than that and what is in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/random.h"
#include "support/shards/deflate.h"

enum { MB = 1 << 20, RECORD = 1000, RECORDS = 12000, SHARDS = 2 };

static struct buffer content; /* of both shards */

static int make_shards(void **state) {
    if (folder_enter(state)) return -1;
    struct rng random = {4};
    for (size_t i = 0; i < (size_t)RECORDS * RECORD; i++)
        buffer_add_byte(&content, (uint8_t)('a' + rng_below(&random, 16)));
    size_t half = content.size / SHARDS;
    for (size_t i = 0; i < SHARDS; i++) {
        struct buffer file = BUFFER_INIT, part = {content.data + i * half, half, 0};
        struct deflate_way way = {.level = 1, .memory = 8};
        add_deflated(&file, COMPRESSION_GZIP, &part, &way);
        file_write(shard_names(SHARDS)[i], file.data, file.size);
        buffer_deinit(&file);
    }
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.framing = "fixed:0,1000,0";
    assert_int_equal(index_build("a.rmx", &options, shard_names(SHARDS), SHARDS).record_count,
                     RECORDS);
    return 0;
}

static int free_shards(void **state) {
    buffer_deinit(&content);
    return folder_leave(state);
}

static recmap_dataset *open_keeping(uint64_t keep_size) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.span_keep_size = keep_size;
    return dataset_open("a.rmx", &options);
}

static bool is_right(const recmap_record *record, uint64_t number) {
    return record->size == RECORD && !memcmp(record->data, content.data + number * RECORD, RECORD);
}

static bool get_is_right(recmap_dataset *dataset, uint64_t number) {
    recmap_record record;
    if (recmap_dataset_get(&record, dataset, number, NULL) != RECMAP_OK) return false;
    bool right = is_right(&record, number);
    recmap_record_release(&record);
    return right;
}

static recmap_span_info span_info(const recmap_dataset *dataset) {
    recmap_span_info info;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_dataset_get_span_info(&info, dataset, &error), &error);
    return info;
}

static const uint64_t keep_sizes[] = {1, 3 * MB, 7 * MB, 9 * MB};
enum { KEEP_SIZES = sizeof keep_sizes / sizeof *keep_sizes };

/* Of one thread nothing is in use between two calls. */
static void test_no_more_is_held(void **state) {
    (void)state;
    uint64_t inflated_before = UINT64_MAX;
    for (size_t k = 0; k < KEEP_SIZES; k++) {
        struct rng random = {5};
        recmap_dataset *dataset = open_keeping(keep_sizes[k]);
        assert_int_equal(span_info(dataset).keep_size, keep_sizes[k]);
        uint64_t max = 0;
        for (int i = 0; i < 100; i++) {
            assert_true(get_is_right(dataset, rng_below(&random, RECORDS)));
            uint64_t held = recmap_dataset_span_statistics(dataset).held_size;
            assert_true(held <= keep_sizes[k]);
            if (held > max) max = held;
        }
        recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
        /* What there is room for is used, and saves work. */
        assert_true(keep_sizes[k] < 5 * MB || max > keep_sizes[k] - 5 * MB);
        assert_true(spans.evict_count > 0);
        assert_true(spans.inflated_size <= inflated_before);
        inflated_before = spans.inflated_size;
        recmap_dataset_close(dataset);
    }
}

static void test_with_room_every_span_is_kept(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, (uint64_t)RECORDS * RECORD, UINT64_MAX};
    for (size_t k = 0; k < 3; k++) {
        struct rng random = {6};
        recmap_dataset *dataset = open_keeping(sizes[k]);
        assert_int_equal(span_info(dataset).keep_size, sizes[k] ? sizes[k] : (uint64_t)1 << 30);
        for (int i = 0; i < 1000; i++)
            assert_true(get_is_right(dataset, rng_below(&random, RECORDS)));
        recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
        assert_int_equal(spans.evict_count, 0);
        assert_int_equal(spans.inflated_size, RECORDS * RECORD);
        recmap_dataset_close(dataset);
    }
}

/* A batch inflates each span once, however little is kept. */
static void test_a_batch_inflates_each_span_once(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    static uint64_t numbers[COUNT];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    for (size_t k = 0; k < KEEP_SIZES; k++) {
        struct rng random = {7};
        recmap_dataset *dataset = open_keeping(keep_sizes[k]);
        for (size_t i = 0; i < COUNT; i++) numbers[i] = rng_below(&random, RECORDS);
        ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, COUNT, &error), &error);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(is_right(&recmap_batch_records(batch)[i], numbers[i]));
        recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
        assert_true(spans.held_size <= keep_sizes[k]);
        /* Except if a record continues in the next span. */
        assert_true(spans.inflate_count <= 2 * span_info(dataset).span_count);
        recmap_batch_clear(batch);
        recmap_dataset_close(dataset);
    }
    recmap_batch_destroy(batch);
}

struct reader {
    recmap_dataset *dataset;
    uint64_t seed, max;
    bool failed;
};

static void *read_some(void *context) {
    struct reader *reader = context;
    struct rng random = {reader->seed};
    for (int i = 0; i < 60 && !reader->failed; i++) {
        reader->failed = !get_is_right(reader->dataset, rng_below(&random, RECORDS));
        uint64_t held = recmap_dataset_span_statistics(reader->dataset).held_size;
        if (held > reader->max) reader->max = held;
    }
    return NULL;
}

/* Each thread can have one span in use on top. */
static void test_each_thread_can_use_a_span_beyond_the_limit(void **state) {
    (void)state;
    enum { THREADS = 4 };
    for (size_t k = 0; k < KEEP_SIZES; k++) {
        recmap_dataset *dataset = open_keeping(keep_sizes[k]);
        uint64_t span_size_max = span_info(dataset).largest_size;
        pthread_t threads[THREADS];
        struct reader readers[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            readers[i] = (struct reader){dataset, i, 0, false};
            assert_int_equal(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        for (size_t i = 0; i < THREADS; i++) {
            assert_false(readers[i].failed);
            assert_true(readers[i].max <= keep_sizes[k] + THREADS * span_size_max);
        }
        assert_true(recmap_dataset_span_statistics(dataset).held_size <= keep_sizes[k]);
        recmap_dataset_close(dataset);
    }
}

/* A whole shuffled epoch out of a loader's threads. */
static void test_a_loader_needs_few_spans(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_keeping(1);
    recmap_order *order;
    ASSERT_OK(recmap_order_shuffled(&order, RECORDS, 8, &error), &error);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 1000;
    options.thread_count = 3;
    recmap_loader *loader;
    ASSERT_OK(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    uint64_t seen = 0, sum = 0;
    recmap_batch *batch = NULL;
    for (;;) {
        ASSERT_OK(recmap_loader_next(&batch, loader, &error), &error);
        if (!batch) break;
        for (size_t i = 0; i < recmap_batch_count(batch); i++, seen++) {
            const recmap_record *record = &recmap_batch_records(batch)[i];
            assert_true(is_right(record, record->number));
            sum += record->number;
        }
    }
    assert_int_equal(seen, RECORDS);
    assert_int_equal(sum, (uint64_t)RECORDS * (RECORDS - 1) / 2);
    recmap_loader_destroy(loader);
    assert_true(recmap_dataset_span_statistics(dataset).held_size <= 1);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_more_is_held),
        cmocka_unit_test(test_with_room_every_span_is_kept),
        cmocka_unit_test(test_a_batch_inflates_each_span_once),
        cmocka_unit_test(test_each_thread_can_use_a_span_beyond_the_limit),
        cmocka_unit_test(test_a_loader_needs_few_spans),
    };
    return cmocka_run_group_tests(tests, make_shards, free_shards);
}
