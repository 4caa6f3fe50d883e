/* Warming a data set: what is read where, and when it ends early. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/control_group.h"
#include "support/emulation.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/dataset/warm/warm_set.h"

enum { SHARD_SIZE = WARM_SHARD_RECORDS * WARM_FRAME };

static const uint64_t set_size = (uint64_t)WARM_SHARDS * SHARD_SIZE;

static recmap_dataset *open_with_cache(uint64_t size) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.cache = "cache";
    options.cache_size = size;
    return dataset_open("set.rmx", &options);
}

static recmap_warm_report warm(recmap_dataset *dataset, const recmap_warm_options *options) {
    recmap_warm_report report;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_dataset_warm(&report, dataset, options, &error), &error);
    return report;
}

static void assert_report(recmap_warm_report report, recmap_warm_end end, uint64_t read_size,
                          uint64_t present_size) {
    assert_int_equal(report.end, end);
    assert_int_equal(report.read_size, read_size);
    assert_int_equal(report.present_size, present_size);
}

/* ---- In memory. */

/* The shards are not mapped: comparing samples of mapped ones makes the kernel read around them. */
static void test_all_shards_are_read_into_memory(void **state) {
    (void)state;
    if (is_emulated(__func__, "reads that do not wait are refused")) skip();
    recmap_dataset_options reading = RECMAP_DATASET_OPTIONS_INIT;
    reading.access = RECMAP_ACCESS_READ;
    warm_set_write(false);
    if (!warm_set_can_drop()) skip();
    recmap_dataset *dataset = dataset_open("set.rmx", &reading);
    recmap_warm_report report = warm(dataset, NULL);
    assert_int_equal(report.end, RECMAP_WARM_COMPLETE);
    assert_int_equal(report.read_size + report.present_size, set_size);
    assert_true(report.read_size >= set_size / 2);
    for (unsigned i = 0; i < WARM_SHARDS; i++) assert_int_equal(warm_set_resident(i), SHARD_SIZE);
    assert_report(warm(dataset, NULL), RECMAP_WARM_COMPLETE, 0, set_size);
    recmap_dataset_close(dataset);
}

static void test_only_the_records_of_the_run_are_read(void **state) {
    (void)state;
    warm_set_write(false);
    if (!warm_set_can_drop()) skip();
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_order_sequential(&options.order, WARM_RECORDS, &error), &error);
    options.dealing.batch_size = 10;
    options.position = 2 * WARM_SHARD_RECORDS;
    options.record_limit = 2 * WARM_SHARD_RECORDS;
    recmap_warm_report report = warm(dataset, &options);
    assert_int_equal(report.read_size + report.present_size, 2 * SHARD_SIZE);
    assert_int_equal(warm_set_resident(2), SHARD_SIZE);
    assert_int_equal(warm_set_resident(3), SHARD_SIZE);
    assert_int_equal(warm_set_resident(7), 0);
    recmap_order_release(options.order);
    recmap_dataset_close(dataset);
}

/* A shuffle reads a record of nearly each page, in one pass over the shards. */
static void test_a_shuffle_needs_all_pages(void **state) {
    (void)state;
    warm_set_write(false);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    options.order = warm_set_order(3);
    options.dealing.batch_size = 64;
    recmap_warm_report report = warm(dataset, &options);
    assert_int_equal(report.read_size + report.present_size, set_size);
    recmap_order_release(options.order);
    recmap_dataset_close(dataset);
}

/* ---- On the disk. */

static void test_spans_are_inflated_into_the_cache(void **state) {
    (void)state;
    warm_set_write(true);
    recmap_dataset *dataset = open_with_cache(1 << 30);
    assert_report(warm(dataset, NULL), RECMAP_WARM_COMPLETE, set_size, 0);
    assert_report(warm(dataset, NULL), RECMAP_WARM_COMPLETE, 0, set_size);
    recmap_cache_statistics before = recmap_dataset_cache_statistics(dataset);
    recmap_record record;
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t number = 0; number < WARM_RECORDS; number += 97) {
        ASSERT_OK(recmap_dataset_get(&record, dataset, number, &error), &error);
        recmap_record_release(&record);
    }
    assert_int_equal(recmap_dataset_cache_statistics(dataset).miss_count, before.miss_count);
    recmap_dataset_close(dataset);
}

static void test_a_full_cache_ends_it(void **state) {
    (void)state;
    const uint64_t limit = 6 << 20;
    warm_set_write(true);
    recmap_dataset *dataset = open_with_cache(limit);
    recmap_warm_report report = warm(dataset, NULL), again;
    assert_int_equal(report.end, RECMAP_WARM_CACHE);
    assert_true(report.read_size && report.read_size <= limit);
    again = warm(dataset, NULL);
    assert_int_equal(again.end, RECMAP_WARM_CACHE);
    assert_true(again.present_size + again.read_size <= limit);
    recmap_dataset_close(dataset);
}

/* The shares of the nodes are parts of the epoch. Together they need all spans. */
static void test_nodes_share_an_epoch(void **state) {
    (void)state;
    warm_set_write(true);
    recmap_dataset *dataset = open_with_cache(1 << 30);
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_order_sequential(&options.order, WARM_RECORDS, &error), &error);
    options.dealing.world_size = 4;
    options.dealing.batch_size = WARM_RECORDS / 4;
    options.rank_count = 2;
    recmap_warm_report report = warm(dataset, &options);
    assert_int_equal(report.read_size + report.present_size, set_size / 2);
    options.first_rank = 2;
    report = warm(dataset, &options);
    assert_int_equal(report.read_size + report.present_size, set_size / 2);
    recmap_warm_report all = warm(dataset, NULL);
    assert_report(all, RECMAP_WARM_COMPLETE, 0, set_size);
    recmap_order_release(options.order);
    recmap_dataset_close(dataset);
}

/* ---- Limits of memory. */

static void test_memory_ends_it(void **state) {
    (void)state;
    warm_set_write(false);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    warm_set_forge_memory(6 << 10);
    recmap_warm_report report = warm(dataset, NULL);
    assert_int_equal(report.end, RECMAP_WARM_MEMORY);
    assert_int_equal(report.read_size + report.present_size, 2 * SHARD_SIZE);
    warm_set_forge_memory(0);
    assert_report(warm(dataset, NULL), RECMAP_WARM_MEMORY, 0, 0);
    recmap_dataset_close(dataset);
}

/* A limit that is large when it is first asked for, and small from the third time on: a named pipe
 * gives each reader another answer. */
struct shrinking_limit {
    const char *path;
    atomic_bool is_over;
};

static void *give_limits(void *context) {
    struct shrinking_limit *limit = context;
    for (int time = 0; !atomic_load(&limit->is_over); time++) {
        const char *text = time < 2 ? "67108864\n" : "3145728\n";
        int fd = open(limit->path, O_WRONLY | O_CLOEXEC);
        if (fd < 0) continue;
        ssize_t written = write(fd, text, strlen(text));
        close(fd);
        usleep(written > 0 ? 2000 : 0); /* until the reader has closed the pipe */
    }
    return NULL;
}

static recmap_warm_report warm_while_it_shrinks(recmap_dataset *dataset, const char *path) {
    pthread_t thread;
    struct shrinking_limit limit = {.path = path};
    assert_int_equal(pthread_create(&thread, NULL, give_limits, &limit), 0);
    recmap_warm_report report = warm(dataset, NULL);
    atomic_store(&limit.is_over, true);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(fd);
    return report;
}

/* A reader that opens the pipe before the writer has closed it for the former one gets no limit.
 * Then it is tried again. */
static void check_shrinking_limit(const char *folder, const char *path, const char *groups) {
    enum { TRIES = 100 };
    char command[PATH_ROOM];
    bool has_ended_early = false;
    snprintf(command, sizeof command, "mkdir -p %s && mkfifo %s", folder, path);
    assert_int_equal(system(command), 0);
    warm_set_write(false);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    file_write("proc/self/cgroup", groups, strlen(groups));
    for (int i = 0; i < TRIES && !has_ended_early; i++) {
        recmap_warm_report report = warm_while_it_shrinks(dataset, path);
        uint64_t size = report.read_size + report.present_size;
        has_ended_early = report.end == RECMAP_WARM_MEMORY && size && size < set_size / 2;
    }
    assert_true(has_ended_early);
    recmap_dataset_close(dataset);
}

static void test_a_limit_of_version_1_that_shrinks(void **state) {
    (void)state;
    check_shrinking_limit("sys/fs/cgroup/memory/job",
                          "./sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3:memory:/job\n");
}

static void test_a_limit_of_version_2_that_shrinks(void **state) {
    (void)state;
    check_shrinking_limit("sys/fs/cgroup/job", "./sys/fs/cgroup/job/memory.max", "0::/job\n");
}

/* ---- Errors. */

static void assert_fails(recmap_dataset *dataset, const recmap_warm_options *options,
                         recmap_status expected, const char *text) {
    recmap_warm_report report;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_warm(&report, dataset, options, &error), expected);
    if (!strstr(error.message, text)) fail_msg("%s", error.message);
}

static void test_wrong_options(void **state) {
    (void)state;
    warm_set_write(false);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    options.version = 9;
    assert_fails(dataset, &options, RECMAP_INVALID, "has version 9, expected 1");
    options.version = RECMAP_WARM_OPTIONS_VERSION;
    ASSERT_OK(recmap_order_sequential(&options.order, WARM_RECORDS + 1, &error), &error);
    assert_fails(dataset, &options, RECMAP_INVALID, "the order covers 8001 records");
    recmap_order_release(options.order);
    options.order = warm_set_order(0);
    options.first_rank = 1;
    options.rank_count = 1;
    assert_fails(dataset, &options, RECMAP_INVALID, "ranks 1 to 1 are out of range");
    options.first_rank = 0;
    options.position = WARM_RECORDS + 1;
    assert_fails(dataset, &options, RECMAP_INVALID, "position 8001 is out of range");
    recmap_order_release(options.order);
    recmap_dataset_close(dataset);
}

static void test_a_missing_shard_ends_it(void **state) {
    (void)state;
    warm_set_write(false);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    assert_int_equal(remove(shard_names(WARM_SHARDS)[4]), 0);
    assert_fails(dataset, NULL, RECMAP_IO, "cannot open");
    recmap_dataset_close(dataset);
}

static int refuse(const recmap_progress *progress, void *context) {
    (void)progress;
    ++*(int *)context;
    return 1;
}

static void test_progress_cancels(void **state) {
    (void)state;
    warm_set_write(false);
    int calls = 0;
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    options.progress = refuse;
    options.progress_context = &calls;
    assert_fails(dataset, &options, RECMAP_CANCELLED, "interrupted");
    assert_int_equal(calls, 1);
    recmap_dataset_close(dataset);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, warm_set_enter, warm_set_leave)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_all_shards_are_read_into_memory),
                                       TEST(test_only_the_records_of_the_run_are_read),
                                       TEST(test_a_shuffle_needs_all_pages),
                                       TEST(test_spans_are_inflated_into_the_cache),
                                       TEST(test_a_full_cache_ends_it),
                                       TEST(test_nodes_share_an_epoch),
                                       TEST(test_memory_ends_it),
                                       TEST(test_a_limit_of_version_1_that_shrinks),
                                       TEST(test_a_limit_of_version_2_that_shrinks),
                                       TEST(test_wrong_options),
                                       TEST(test_a_missing_shard_ends_it),
                                       TEST(test_progress_cancels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
