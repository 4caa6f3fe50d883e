/* Reading: whatever the ways and options, the same records come back, byte for byte, with their
 * columns, places and ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"
#include "support/shards/oracle.h"

static void index_known(const struct known *set) {
    recmap_index_options options = known_index_options(set);
    index_build("set.rmx", &options, shard_names(set->shard_count), set->shard_count);
}

static void assert_all(const struct known *set, recmap_dataset *dataset, struct rng *random) {
    known_assert_records(set, dataset);
    known_assert_batches(set, dataset, random);
    known_assert_columns(set, dataset);
    known_assert_counts(set, dataset);
    known_assert_places(set, dataset);
    known_assert_ids(set, dataset);
}

/* Every access, every check, every cap on open shards. */
static void assert_all_ways(const struct known *set, struct rng *random) {
    for (int way = 0; way < 16; way++) {
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = way & 1 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
        options.check = way & 2 ? RECMAP_CHECK_HEADER : RECMAP_CHECK_DATA;
        options.index_check = way & 4 ? RECMAP_INDEX_CHECK_FULL : RECMAP_INDEX_CHECK_LAZY;
        options.index_in_memory = way & 4 && way & 8;
        options.shard_limit = way & 8 ? 1 + (unsigned)rng_below(random, 3) : 0;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        assert_all(set, dataset, random);
        recmap_dataset_close(dataset);
    }
}

static void test_known_sets_are_read_as_written(void **state) {
    (void)state;
    int rounds = is_long() ? 1000 : 40;
    for (int round = 0; round < rounds; round++) {
        struct rng random = {(uint64_t)round};
        struct known_options options = {1 + (size_t)rng_below(&random, 7),
                                        (size_t)rng_below(&random, 300),
                                        (size_t)rng_skewed(&random, 13),
                                        rng_one_in(&random, 2),
                                        rng_one_in(&random, 2),
                                        rng_one_in(&random, 2)};
        struct known set = known_generate(&options, &random);
        index_known(&set);
        assert_all_ways(&set, &random);
        known_deinit(&set);
    }
}

/* Views out of a shard stay as they are while others push it out of the cache. */
static void test_views_stay_while_pinned(void **state) {
    (void)state;
    struct rng random = {77};
    struct known_options made = {7, 200, 300, false, false, true};
    struct known set = known_generate(&made, &random);
    index_known(&set);
    for (int access = 0; access < 2; access++) {
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = (recmap_access)access;
        options.shard_limit = 1;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record held[40];
        for (int round = 0; round < 2000; round++) {
            size_t slot = (size_t)rng_below(&random, 40);
            if (round >= 40) {
                size_t check = (size_t)rng_below(&random, 40);
                const struct known_record *due = &set.records[held[check].number];
                assert_int_equal(held[check].size, due->size);
                assert_memory_equal(held[check].data, due->data, due->size);
                recmap_record_release(&held[slot]);
                recmap_record_release(&held[slot]);
                assert_null(held[slot].data);
            } else {
                slot = (size_t)round;
            }
            ASSERT_OK(
                recmap_dataset_get(&held[slot], dataset, rng_below(&random, set.count), &error),
                &error);
        }
        /* Half of them are never released: closing must free what they held. */
        for (size_t i = 0; i < 20; i++) recmap_record_release(&held[i]);
        recmap_dataset_close(dataset);
    }
    known_deinit(&set);
}

static void assert_refused(recmap_status status, const recmap_error *error) {
    assert_int_equal(status, RECMAP_INVALID);
    assert_int_equal(error->status, RECMAP_INVALID);
    assert_true(error->message[0]);
}

/* Each query with numbers past the end, and with ranges that overflow, is refused. The outputs must
 * stay unchanged. */
static void test_out_of_range(void **state) {
    (void)state;
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < 10; i++) oracle_add_record(&shard, "0123456789", (size_t)i);
    index_bytes("set.rmx", NULL, "shard", &shard);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record = {.number = 4};
    recmap_batch *batch;
    recmap_location places[2];
    int64_t lengths[2] = {-7, -7};
    float floats[2];
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    const uint64_t beyond[] = {10, 11, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        uint64_t numbers[] = {3, beyond[i], 1};
        assert_refused(recmap_dataset_get(&record, dataset, beyond[i], &error), &error);
        assert_refused(recmap_dataset_gather(batch, dataset, numbers, 3, &error), &error);
        assert_int_equal(recmap_batch_count(batch), 0);
        assert_refused(recmap_dataset_read(batch, dataset, beyond[i], 1, &error), &error);
        assert_refused(recmap_dataset_locate(places, dataset, beyond[i], 1, &error), &error);
        assert_refused(recmap_dataset_read_int64(lengths, dataset, 0, beyond[i], 1, &error),
                       &error);
        assert_int_equal(recmap_dataset_get(&record, dataset, beyond[i], NULL), RECMAP_INVALID);
    }
    assert_refused(recmap_dataset_read(batch, dataset, 9, 2, &error), &error);
    assert_refused(recmap_dataset_read(batch, dataset, 5, SIZE_MAX, &error), &error);
    assert_refused(recmap_dataset_read(batch, dataset, 11, 0, &error), &error);
    assert_refused(recmap_dataset_read_int64(lengths, dataset, 0, 9, 2, &error), &error);
    assert_refused(recmap_dataset_read_int64(lengths, dataset, 1, 0, 1, &error), &error);
    assert_refused(recmap_dataset_read_float(floats, dataset, 0, 0, 1, &error), &error);
    assert_null(record.data);
    assert_int_equal(record.number, 4);
    assert_int_equal(lengths[0], -7);
    ASSERT_OK(recmap_dataset_read(batch, dataset, 10, 0, &error), &error);
    ASSERT_OK(recmap_dataset_gather(batch, dataset, NULL, 0, &error), &error);
    assert_int_equal(recmap_batch_count(batch), 0);
    recmap_batch_destroy(batch);
    recmap_dataset_close(dataset);
    buffer_deinit(&shard);
}

/* An empty file holds no records and is fine; so is a data set of no shards. */
static void test_empty_sets_open_without_records(void **state) {
    (void)state;
    file_write("empty", NULL, 0);
    const char *names[] = {"empty"};
    for (size_t shards = 0; shards < 2; shards++) {
        recmap_index_summary summary = index_build("set.rmx", NULL, names, shards);
        assert_int_equal(summary.record_count, 0);
        assert_int_equal(summary.shard_count, shards);
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        assert_int_equal(recmap_dataset_count(dataset), 0);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        assert_refused(recmap_dataset_get(&record, dataset, 0, &error), &error);
        recmap_report *report;
        ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
        assert_int_equal(recmap_report_damage_count(report), 0);
        recmap_report_destroy(report);
        recmap_dataset_close(dataset);
    }
}

/* A record of no bytes is a record: it has data, and can be released. */
static void test_records_without_bytes_are_records(void **state) {
    (void)state;
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < 1000; i++) oracle_add_record(&shard, NULL, 0);
    index_bytes("set.rmx", NULL, "shard", &shard);
    for (int access = 0; access < 2; access++) {
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = (recmap_access)access;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        recmap_error error = RECMAP_ERROR_INIT;
        for (uint64_t i = 0; i < 1000; i++) {
            recmap_record record;
            ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
            assert_int_equal(record.size, 0);
            assert_non_null(record.data);
            recmap_record_release(&record);
        }
        recmap_dataset_close(dataset);
    }
    buffer_deinit(&shard);
}

/* The context is how many more questions are answered with "continue". */
static int stop_after(void *context) {
    int *questions_left = context;
    return (*questions_left)-- == 0;
}

/* A gather that its caller stops is CANCELLED and leaves an empty batch, which can be filled again.
 * It asks often enough: here at least once in 1,024 records. */
static void test_an_interrupted_gather_leaves_an_empty_batch(void **state) {
    (void)state;
    enum { COUNT = 10240 };
    static uint64_t numbers[COUNT];
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < 100; i++) oracle_add_record(&shard, "0123456789", (size_t)i % 10);
    for (size_t i = 0; i < COUNT; i++) numbers[i] = i % 100;
    index_bytes("set.rmx", NULL, "shard", &shard);
    for (int access = 0; access < 2; access++) {
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = (recmap_access)access;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        recmap_batch *batch;
        recmap_error error = RECMAP_ERROR_INIT;
        ASSERT_OK(recmap_batch_create(&batch, &error), &error);
        for (int questions = 0; questions < 10; questions++) {
            int questions_left = questions;
            recmap_batch_set_interrupt(batch, stop_after, &questions_left);
            assert_int_equal(recmap_dataset_gather(batch, dataset, numbers, COUNT, &error),
                             RECMAP_CANCELLED);
            assert_int_equal(recmap_batch_count(batch), 0);
        }
        recmap_batch_set_interrupt(batch, NULL, NULL);
        ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, COUNT, &error), &error);
        assert_int_equal(recmap_batch_count(batch), COUNT);
        recmap_batch_destroy(batch);
        recmap_dataset_close(dataset);
    }
    buffer_deinit(&shard);
}

static void test_options_of_another_version(void **state) {
    (void)state;
    index_build("set.rmx", NULL, NULL, 0);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.version = 99;
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_refused(recmap_dataset_open(&dataset, "set.rmx", &options, &error), &error);
    assert_null(dataset);
    recmap_dataset_close(NULL);
    recmap_batch_destroy(NULL);
    recmap_report_destroy(NULL);
    recmap_record_release(NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(known_sets_are_read_as_written),
        TEST(views_stay_while_pinned),
        TEST(out_of_range),
        TEST(empty_sets_open_without_records),
        TEST(records_without_bytes_are_records),
        TEST(options_of_another_version),
        TEST(an_interrupted_gather_leaves_an_empty_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
