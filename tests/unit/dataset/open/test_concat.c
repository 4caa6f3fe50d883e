/* Concatenations: data sets whose shards are divided among several indexes are, put together, what
 * one index of all shards gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"

enum { PARTS_MAX = 6 };

/* The indexes of a set's shards: each has some shards, in their order. */
struct parts {
    recmap_dataset *datasets[PARTS_MAX];
    size_t count;
};

/* Divides the shards at random. */
static struct parts open_parts(const struct known *set, struct rng *random,
                               const recmap_dataset_options *options) {
    struct parts parts = {.count = 0};
    recmap_index_options index_options = known_index_options(set);
    const char *const *names = shard_names(set->shard_count);
    for (size_t first = 0, count; first < set->shard_count; first += count) {
        char path[16];
        count = 1 + (size_t)rng_below(random, set->shard_count - first);
        if (parts.count + 1 == PARTS_MAX) count = set->shard_count - first;
        snprintf(path, sizeof path, "%zu.rmx", parts.count);
        index_build(path, &index_options, names + first, count);
        parts.datasets[parts.count++] = dataset_open(path, options);
    }
    return parts;
}

static void close_parts(const struct parts *parts) {
    for (size_t i = 0; i < parts->count; i++) recmap_dataset_close(parts->datasets[i]);
}

static recmap_dataset *concat(recmap_dataset *const *datasets, size_t count) {
    recmap_dataset *dataset;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_dataset_concat(&dataset, datasets, count, &error), &error);
    return dataset;
}

static void assert_all(const struct known *set, recmap_dataset *dataset, struct rng *random) {
    known_assert_records(set, dataset);
    known_assert_batches(set, dataset, random);
    known_assert_places(set, dataset);
    known_assert_ids(set, dataset);
    known_assert_counts(set, dataset);
}

static void test_concatenations_have_the_records_of_their_parts(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        struct rng random = {round};
        struct known_options made = {1 + (size_t)rng_below(&random, 12),
                                     1 + (size_t)rng_below(&random, 300),
                                     (size_t)rng_skewed(&random, 13),
                                     true,
                                     true,
                                     true};
        struct known set = known_generate(&made, &random);
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = round % 2 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
        options.shard_limit = round % 4 < 2 ? 0 : 2;
        struct parts parts = open_parts(&set, &random, &options);
        recmap_dataset *whole = concat(parts.datasets, parts.count);
        assert_all(&set, whole, &random);
        recmap_dataset_close(whole);
        /* The same from concatenations of concatenations. */
        size_t half = parts.count / 2;
        if (half) {
            recmap_dataset *halves[] = {concat(parts.datasets, half),
                                        concat(parts.datasets + half, parts.count - half)};
            whole = concat(halves, 2);
            assert_all(&set, whole, &random);
            recmap_dataset_close(whole);
            recmap_dataset_close(halves[0]);
            recmap_dataset_close(halves[1]);
        }
        close_parts(&parts);
        known_deinit(&set);
    }
}

/* A data set may occur several times, and each time has numbers of its own. */
static void test_repeated_parts_have_numbers_of_their_own(void **state) {
    (void)state;
    struct rng random = {5};
    struct known_options made = {3, 50, 5, true, true, true};
    struct known set = known_generate(&made, &random);
    struct parts parts = open_parts(&set, &random, NULL);
    recmap_dataset *one = concat(parts.datasets, parts.count);
    recmap_dataset *const many[] = {one, one, one};
    recmap_dataset *whole = concat(many, 3);
    uint64_t count = recmap_dataset_count(one);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_count(whole), 3 * count);
    for (uint64_t number = 0; number < 3 * count; number++) {
        const struct known_record *due = &set.records[number % count];
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, whole, number, &error), &error);
        assert_int_equal(record.number, number);
        assert_int_equal(record.size, due->size);
        if (due->size) assert_memory_equal(record.data, due->data, due->size);
        recmap_record_release(&record);
    }
    recmap_record record;
    assert_int_equal(recmap_dataset_get(&record, whole, 3 * count, &error), RECMAP_INVALID);
    recmap_dataset_close(whole);
    recmap_dataset_close(one);
    close_parts(&parts);
    known_deinit(&set);
}

static void test_a_concatenation_needs_parts(void **state) {
    (void)state;
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_concat(&dataset, NULL, 0, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "there are no data sets to concatenate");
    assert_null(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(concatenations_have_the_records_of_their_parts),
        TEST(repeated_parts_have_numbers_of_their_own),
        TEST(a_concatenation_needs_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
