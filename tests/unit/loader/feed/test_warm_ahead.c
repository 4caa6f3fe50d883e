/* A loader that warms what it reads: the batches and states are those of one that does not, and
 * whatever happens to warming fails no batch. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/control_group.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 3000, SHARDS = 5 };

/* What a forged kernel says is available. */
static void forge_memory(const char *text) {
    mkdir("proc", 0755);
    mkdir("proc/self", 0755);
    file_write("proc/meminfo", text, strlen(text));
    kernel_file_force_root(".");
}

static int enter(void **state) {
    if (folder_enter(state)) return 1;
    forge_memory("MemAvailable: 1000000 kB\n");
    return 0;
}

static int leave(void **state) {
    kernel_file_force_root(NULL);
    return folder_leave(state);
}

static recmap_loader_options options_with(recmap_warm warm) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 7;
    options.thread_count = 2;
    options.warm = warm;
    return options;
}

static recmap_loader_statistics statistics_of(recmap_loader *loader) {
    recmap_loader_statistics statistics;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
    return statistics;
}

/* Waits until warming has ended, and returns what became of it. */
static recmap_loader_statistics wait_for_end(recmap_loader *loader) {
    recmap_loader_statistics statistics = statistics_of(loader);
    while (statistics.warm_state == RECMAP_WARM_STATE_RUNNING) {
        usleep(1000);
        statistics = statistics_of(loader);
    }
    return statistics;
}

static recmap_order *shuffled(uint64_t count) {
    recmap_order *order;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_order_shuffled(&order, count, 7, &error), &error);
    return order;
}

/* ---- Equal batches and states. */

static void assert_same_step(recmap_loader *loader, recmap_loader *other) {
    struct number_list list = {NULL, 0, 0}, other_list = {NULL, 0, 0};
    uint64_t epoch, position;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(take_steps(&list, loader, 3), take_steps(&other_list, other, 3));
    assert_int_equal(list.count, other_list.count);
    if (list.count)
        assert_memory_equal(list.numbers, other_list.numbers, list.count * sizeof *list.numbers);
    ASSERT_OK(recmap_loader_tell(&epoch, &position, loader, &error), &error);
    assert_stands_at(other, epoch, position);
    free(list.numbers);
    free(other_list.numbers);
}

static void move_both(recmap_loader *loader, recmap_loader *other, uint64_t count,
                      struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t epoch = rng_below(random, 3), position = rng_below(random, count + 1);
    if (rng_one_in(random, 3)) {
        ASSERT_OK(recmap_loader_stop(loader, &error), &error);
        ASSERT_OK(recmap_loader_stop(other, &error), &error);
    }
    if (!rng_one_in(random, 3)) return;
    ASSERT_OK(recmap_loader_seek(loader, epoch, position, &error), &error);
    ASSERT_OK(recmap_loader_seek(other, epoch, position, &error), &error);
}

static void test_equal_batches_and_states(void **state) {
    (void)state;
    struct rng random = {11};
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    for (int kind = 0; kind < ORDER_KINDS; kind++) {
        recmap_order *order = order_of_kind(kind, RECORDS, 5);
        recmap_loader_options options = options_with(RECMAP_WARM_OFF);
        options.world_size = (uint32_t)(1 + rng_below(&random, 4));
        options.rank = (uint32_t)rng_below(&random, options.world_size);
        recmap_loader *other = loader_open(dataset, order, &options);
        options.warm = RECMAP_WARM_ON;
        recmap_loader *loader = loader_open(dataset, order, &options);
        for (int round = 0; round < 12; round++) {
            assert_same_step(loader, other);
            move_both(loader, other, recmap_order_count(order), &random);
        }
        recmap_loader_destroy(loader);
        recmap_loader_destroy(other);
        recmap_order_release(order);
    }
    recmap_dataset_close(dataset);
}

/* ---- How it is going. */

static void test_everything_is_warmed_once(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_order *order = shuffled(RECORDS);
    recmap_loader_options options = options_with(RECMAP_WARM_ON);
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    uint64_t size = recmap_dataset_get_info(dataset)->byte_count;
    assert_int_equal(statistics_of(loader).warm_state, RECMAP_WARM_STATE_OFF);
    do next_batch(&batch, loader);
    while (batch);
    recmap_loader_statistics statistics = wait_for_end(loader);
    assert_int_equal(statistics.warm_state, RECMAP_WARM_STATE_COMPLETE);
    assert_int_equal(statistics.warm_read_size + statistics.warm_present_size, size);
    do next_batch(&batch, loader);
    while (batch);
    statistics = wait_for_end(loader);
    assert_int_equal(statistics.warm_state, RECMAP_WARM_STATE_COMPLETE);
    assert_int_equal(statistics.warm_read_size + statistics.warm_present_size, size);
    loader_close(loader, order, dataset);
}

static void test_nothing_is_warmed_after_the_last_epoch(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_order *order = shuffled(RECORDS);
    recmap_loader_options options = options_with(RECMAP_WARM_ON);
    recmap_error error = RECMAP_ERROR_INIT;
    options.batches_ahead_epoch_limit = 1;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    ASSERT_OK(recmap_loader_seek(loader, 1, 0, &error), &error);
    next_batch(&batch, loader);
    assert_int_equal(statistics_of(loader).warm_state, RECMAP_WARM_STATE_OFF);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* ---- Whatever happens. */

static void read_epoch(recmap_loader *loader) {
    recmap_batch *batch = NULL;
    uint64_t count = 0;
    do {
        next_batch(&batch, loader);
        if (batch) count += recmap_batch_count(batch);
    } while (batch);
    assert_int_equal(count, RECORDS);
}

static recmap_warm_state warm_with(recmap_dataset *dataset) {
    recmap_order *order = shuffled(RECORDS);
    recmap_loader_options options = options_with(RECMAP_WARM_ON);
    recmap_loader *loader = loader_open(dataset, order, &options);
    read_epoch(loader);
    recmap_warm_state result = wait_for_end(loader).warm_state;
    read_epoch(loader);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    return result;
}

static void test_without_memory_nothing_is_warmed(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    forge_memory("MemAvailable: 8 kB\n");
    assert_int_equal(warm_with(dataset), RECMAP_WARM_STATE_MEMORY);
    recmap_dataset_close(dataset);
}

/* The shards are mapped, so batches need no files any more. */
static void test_files_that_fail_end_only_warming(void **state) {
    (void)state;
    recmap_record record;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    for (uint64_t number = 0; number < RECORDS; number++) {
        ASSERT_OK(recmap_dataset_get(&record, dataset, number, &error), &error);
        recmap_record_release(&record);
    }
    for (size_t i = 0; i < SHARDS; i++) assert_int_equal(remove(shard_names(SHARDS)[i]), 0);
    assert_int_equal(warm_with(dataset), RECMAP_WARM_STATE_FAILED);
    recmap_dataset_close(dataset);
}

static void test_stopping_ends_it(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_order *order = shuffled(RECORDS);
    recmap_loader_options options = options_with(RECMAP_WARM_ON);
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    for (int i = 0; i < 50; i++) {
        next_batch(&batch, loader);
        ASSERT_OK(recmap_loader_stop(loader, &error), &error);
        assert_int_not_equal(statistics_of(loader).warm_state, RECMAP_WARM_STATE_RUNNING);
    }
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* The child has no threads that warm, and must neither wait for them nor free what they use. */
static void test_fork(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_order *order = shuffled(RECORDS);
    recmap_loader_options options = options_with(RECMAP_WARM_ON);
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    next_batch(&batch, loader);
    pid_t child = fork();
    if (!child) {
        recmap_batch *none = NULL;
        recmap_status result = recmap_loader_next(&none, loader, NULL);
        recmap_loader_destroy(loader);
        _exit(result == RECMAP_INVALID ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    next_batch(&batch, loader);
    assert_int_equal(wait_for_end(loader).warm_state, RECMAP_WARM_STATE_COMPLETE);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

static void test_wrong_mode(void **state) {
    (void)state;
    recmap_dataset *dataset = numbered_open(RECORDS, SHARDS, NULL);
    recmap_order *order = shuffled(RECORDS);
    recmap_loader_options options = options_with((recmap_warm)9);
    recmap_loader *loader = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_loader_create(&loader, dataset, order, &options, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message, "invalid mode of warming: 9");
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_equal_batches_and_states),
                                       TEST(test_everything_is_warmed_once),
                                       TEST(test_nothing_is_warmed_after_the_last_epoch),
                                       TEST(test_without_memory_nothing_is_warmed),
                                       TEST(test_files_that_fail_end_only_warming),
                                       TEST(test_stopping_ends_it),
                                       TEST(test_fork),
                                       TEST(test_wrong_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
