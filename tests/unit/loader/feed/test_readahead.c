/* Reading ahead: data that is not in memory is asked for, data that is there costs nothing, and the
 * window follows what workers wait for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dataset/batch/advise.h"
#include "loader/feed/readahead.h"
#include "support/emulation.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 1200, SIZE = 8000, SHARDS = 3, BATCH = 16 };

static void write_shards(void) {
    uint8_t payload[SIZE] = {0};
    const char *const *names = shard_names(SHARDS);
    for (uint8_t i = 0; i < SHARDS; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_writer *writer;
        ASSERT_OK(recmap_writer_create(&writer, names[i], NULL, &error), &error);
        for (size_t r = 0; r < RECORDS / SHARDS; r++) {
            payload[0] = i;
            ASSERT_OK(recmap_writer_write(writer, payload, SIZE, &error), &error);
        }
        ASSERT_OK(recmap_writer_finish(writer, &error), &error);
        recmap_writer_destroy(writer);
    }
    index_build("set.rmx", NULL, names, SHARDS);
}

/* The shards leave the page cache; none may be mapped. */
static void drop(void) {
    const char *const *names = shard_names(SHARDS);
    for (size_t i = 0; i < SHARDS; i++) {
        int fd = open(names[i], O_RDONLY);
        assert_true(fd >= 0);
        assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
        close(fd);
    }
}

static recmap_dataset *open_with(recmap_access access) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = access;
    return dataset_open("set.rmx", &options);
}

/* A file system in memory, and one that does not tell, have nothing that this can be tried on. */
static void skip_unless_dropped(recmap_dataset *dataset) {
    for (uint64_t number = 0; number < RECORDS; number += 100)
        if (dataset_is_resident(dataset, number)) {
            print_message("what is dropped from the page cache stays there: skipped\n");
            recmap_dataset_close(dataset);
            skip();
        }
}

/* Reads an epoch. `is_cold` tells whether readahead checked or requested any record at any time:
 * the statistics at the end alone could have been reset. */
static recmap_loader_statistics iterate_epoch(recmap_dataset *dataset, recmap_order *order,
                                              recmap_readahead readahead, bool *is_cold) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    options.batch_size = BATCH;
    options.thread_count = 2;
    options.readahead = readahead;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_loader_statistics statistics;
    recmap_batch *batch = NULL;
    uint64_t count = 0;
    *is_cold = false;
    do {
        next_batch(&batch, loader);
        ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
        *is_cold |= statistics.readahead_distance > 0;
        if (batch) count += recmap_batch_count(batch);
    } while (batch);
    assert_int_equal(count, RECORDS);
    recmap_loader_destroy(loader);
    return statistics;
}

/* The kernel may reclaim a page at any moment, and the loader then asks for it again. So one epoch
 * without a request, of a few, shows that the loader does not ask for what is in memory. */
static void assert_asks_for_nothing(recmap_dataset *dataset, recmap_order *order) {
    enum { TRIES = 5 };
    uint64_t asked_count = 1;
    bool is_cold;
    for (int i = 0; asked_count && i < TRIES; i++)
        asked_count =
            iterate_epoch(dataset, order, RECMAP_READAHEAD_AUTO, &is_cold).readahead_count;
    assert_int_equal(asked_count, 0);
}

static void test_cold_and_warm(void **unused) {
    (void)unused;
    if (is_emulated(__func__, "advice about mapped memory is ignored")) skip();
    write_shards();
    for (int access = 0; access < 2; access++)
        for (int kind = 0; kind < 2; kind++) { /* shuffled, sequential */
            bool is_cold;
            drop();
            recmap_dataset *dataset = open_with((recmap_access)access);
            skip_unless_dropped(dataset);
            recmap_order *order = order_of_kind(kind, RECORDS, 3);
            recmap_loader_statistics statistics =
                iterate_epoch(dataset, order, RECMAP_READAHEAD_AUTO, &is_cold);
            assert_true(is_cold);
            /* Sequential reading brings some in by itself. */
            if (kind == 0) assert_true(statistics.readahead_count > RECORDS / 2);
            assert_true(statistics.readahead_count > 0);
            assert_asks_for_nothing(dataset, order);
            recmap_dataset_close(dataset);
            recmap_order_release(order);
        }
}

static void test_without_readahead_the_kernel_is_not_asked(void **unused) {
    (void)unused;
    write_shards();
    recmap_order *order = order_of_kind(0, RECORDS, 3);
    bool is_cold;
    drop();
    recmap_dataset *dataset = open_with(RECMAP_ACCESS_MAP);
    recmap_loader_statistics statistics =
        iterate_epoch(dataset, order, RECMAP_READAHEAD_OFF, &is_cold);
    assert_false(is_cold);
    assert_int_equal(statistics.readahead_count, 0);
    recmap_dataset_close(dataset);
    recmap_order_release(order);
}

/* What is asked for comes without being read; what is there is not asked for. */
static void test_only_absent_pages_are_asked_for(void **unused) {
    (void)unused;
    if (is_emulated(__func__, "advice about mapped memory is ignored")) skip();
    write_shards();
    uint64_t numbers[200];
    for (int access = 0; access < 2; access++)
        for (uint64_t step = 1; step <= 5; step += 4) { /* side by side, apart */
            for (uint64_t i = 0; i < 200; i++) numbers[i] = 50 + i * step;
            drop();
            recmap_dataset *dataset = open_with((recmap_access)access);
            skip_unless_dropped(dataset);
            /* The kernel may keep a page or two. */
            assert_true(dataset_will_need(dataset, numbers, 200, true) >= 190);
            for (size_t i = 0; i < 200; i++)
                for (int wait = 0; !dataset_is_resident(dataset, numbers[i]); wait++) {
                    assert_true(wait < 5000);
                    usleep(1000);
                }
            assert_int_equal(dataset_will_need(dataset, numbers, 200, true), 0);
            assert_int_equal(dataset_will_need(dataset, numbers, 200, false), 200);
            assert_int_equal(dataset_will_need(dataset, numbers, 0, true), 0);
            if (step == 5) assert_false(dataset_is_resident(dataset, 1195));
            recmap_dataset_close(dataset);
        }
}

/* The learning, without any data: plans that came to this or that. */
struct learning {
    recmap_dataset *dataset;
    recmap_order *order;
    struct epoch_cursor begun;
    struct readahead_state ahead;
};

static void learning_init(struct learning *learning, recmap_readahead mode, bool is_mapped) {
    recmap_error error = RECMAP_ERROR_INIT;
    write_shards();
    learning->dataset = dataset_open("set.rmx", NULL);
    learning->order = order_of_kind(0, RECORDS, 1);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = BATCH;
    options.readahead = mode;
    recmap_deal_options deal = RECMAP_DEAL_OPTIONS_INIT;
    deal.batch_size = BATCH;
    ASSERT_OK(epoch_cursor_init(&learning->begun, learning->order, 0, 0, &deal, &error), &error);
    readahead_init(&learning->ahead, learning->dataset, learning->order, &options, is_mapped);
    readahead_restart(&learning->ahead, &learning->begun);
}

static void learning_deinit(struct learning *learning) {
    recmap_order_release(learning->order);
    recmap_dataset_close(learning->dataset);
}

static void learn(struct learning *learning, uint64_t seen_count, uint64_t request_count,
                  uint64_t faults, uint64_t sleeps) {
    struct readahead_plan plan = {.is_cold = learning->ahead.is_cold,
                                  .is_blind = learning->ahead.is_blind,
                                  .seen_count = seen_count,
                                  .asked_count = request_count};
    struct thread_waits after = {faults, sleeps};
    readahead_learn_missing(&learning->ahead, &plan, &learning->begun, 0);
    readahead_learn_waits(&learning->ahead, &plan, &after, BATCH, &learning->begun, 0);
}

static void test_the_distance_follows_the_waits(void **unused) {
    (void)unused;
    struct learning at;
    learning_init(&at, RECMAP_READAHEAD_AUTO, true);
    struct readahead_plan plan;
    readahead_plan_for(&plan, &at.ahead, 0);
    assert_int_equal(plan.step_count, READAHEAD_STEPS_MAX);
    assert_false(plan.is_cold);
    assert_int_equal(plan.samples[0], 1);
    assert_int_equal(plan.samples[1] + plan.samples[2] + plan.samples[7], 0);
    readahead_plan_for(&plan, &at.ahead, 0);
    assert_int_equal(plan.samples[0], 1); /* record 128 */
    learn(&at, 0, 0, 0, 100);
    assert_false(at.ahead.is_cold); /* locks make threads sleep too */
    learn(&at, BATCH, 3, 0, 0);
    assert_true(at.ahead.is_cold);
    assert_int_equal(at.ahead.next_step, 0); /* what was passed is looked at now */
    uint64_t window = at.ahead.window;
    for (int i = 0; i < 20; i++) learn(&at, BATCH, 3, 0, BATCH);
    assert_true(at.ahead.window > 2 * window);
    for (int i = 0; i < 1000; i++) learn(&at, BATCH, 3, 0, BATCH);
    assert_int_equal(at.ahead.window, at.ahead.window_max);
    for (int i = 0; i < 1000000; i++) learn(&at, BATCH, 3, 0, 0);
    assert_int_equal(at.ahead.window, at.ahead.window_min);
    for (int i = 0; i < 1000; i++) learn(&at, BATCH, 0, 0, 0);
    assert_false(at.ahead.is_cold);
    learning_deinit(&at);
}

/* However large a batch is, looking at its samples takes little time. */
static void test_samples_of_large_batches(void **unused) {
    (void)unused;
    enum { SAMPLES_ENOUGH = 4096 };
    struct learning at;
    learning_init(&at, RECMAP_READAHEAD_AUTO, true);
    for (int bits = 10; bits <= 62; bits++) {
        struct readahead_plan plan;
        at.ahead.step_size = (uint64_t)1 << bits;
        readahead_restart(&at.ahead, &at.begun);
        readahead_plan_for(&plan, &at.ahead, 0);
        assert_int_not_equal(plan.step_count, 0);
        for (unsigned i = 0; i < plan.step_count; i++)
            assert_in_range(plan.samples[i], 1, SAMPLES_ENOUGH);
    }
    learning_deinit(&at);
}

/* A kernel that says that all is there, while workers wait for pages: it is asked without looking,
 * with a pause now and then to see whether that is still so. */
static void test_a_kernel_that_hides_absence_is_asked_anyway(void **unused) {
    (void)unused;
    struct learning at;
    learning_init(&at, RECMAP_READAHEAD_AUTO, true);
    unsigned turns = 0;
    for (int i = 0; i < 1000 && !at.ahead.is_blind; i++) {
        bool was_cold = at.ahead.is_cold;
        learn(&at, was_cold ? BATCH : 0, 0, was_cold ? 0 : 5, 5);
        turns += at.ahead.is_cold && !was_cold;
    }
    assert_true(at.ahead.is_blind && at.ahead.is_cold);
    assert_int_equal(turns, 3);
    unsigned pauses = 0;
    for (int i = 0; i < 1000; i++) {
        bool was_cold = at.ahead.is_cold;
        learn(&at, was_cold ? BATCH : 0, was_cold ? BATCH : 0, was_cold ? 0 : 5, 5);
        pauses += was_cold && !at.ahead.is_cold;
    }
    assert_true(pauses > 0 && pauses < 20);
    for (int i = 0; i < 1000; i++)
        learn(&at, at.ahead.is_cold ? BATCH : 0, at.ahead.is_cold ? BATCH : 0, 0, 0);
    assert_false(at.ahead.is_cold);
    learning_deinit(&at);
}

static void test_modes_override_learning(void **unused) {
    (void)unused;
    struct learning at;
    struct readahead_plan plan;
    learning_init(&at, RECMAP_READAHEAD_OFF, true);
    learn(&at, BATCH, BATCH, 9, 9);
    readahead_plan_for(&plan, &at.ahead, 0);
    assert_int_equal(plan.step_count, 0);
    learning_deinit(&at);
    learning_init(&at, RECMAP_READAHEAD_ON, true);
    for (int i = 0; i < 10000; i++) learn(&at, BATCH, 0, 0, 0);
    assert_true(at.ahead.is_cold);
    learning_deinit(&at);
    learning_init(&at, RECMAP_READAHEAD_AUTO, false);
    learn(&at, 0, 0, 0, 1); /* pread has no faults: it sleeps */
    assert_true(at.ahead.is_cold);
    learning_deinit(&at);
}

int main(void) {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_##name, folder_enter_on_device, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(cold_and_warm),
        TEST(without_readahead_the_kernel_is_not_asked),
        TEST(only_absent_pages_are_asked_for),
        TEST(the_distance_follows_the_waits),
        TEST(a_kernel_that_hides_absence_is_asked_anyway),
        TEST(modes_override_learning),
        TEST(samples_of_large_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
