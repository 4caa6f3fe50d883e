/* The threads of a loader: back pressure, early ends, statistics from outside, forks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/sanitizers.h"
#include "unit/loader/feed/fixture.h"

static recmap_loader_statistics statistics_of(recmap_loader *loader) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_statistics statistics;
    ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
    return statistics;
}

static recmap_loader_options many_threads(void) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 4;
    options.thread_count = 4;
    options.batches_ahead = 6;
    return options;
}

/* Destroyed before, during and after anything; with batches in the caller's hands. */
static void test_loaders_are_destroyed_at_any_time(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(3000, 4, NULL);
    recmap_order *order = order_of_kind(0, 3000, 1);
    recmap_loader_options options = many_threads();
    for (int i = 0; i < 200; i++) {
        recmap_loader *loader = loader_open(dataset, order, &options);
        recmap_batch *batches[8] = {NULL};
        for (int taken = 0; taken < i % 8; taken++) next_batch(&batches[taken], loader);
        if (i % 3 == 0) assert_int_equal(recmap_loader_seek(loader, 5, 1000, NULL), RECMAP_OK);
        if (i % 16 == 0) usleep(500);
        recmap_loader_destroy(loader);
        for (uint64_t taken = 0; taken < 8; taken++) {
            uint64_t due[4];
            assert_int_equal(recmap_order_read(due, order, 0, taken * 4, 4, NULL), RECMAP_OK);
            if (batches[taken]) assert_batch(batches[taken], due, 4);
            recmap_batch_destroy(batches[taken]);
        }
    }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* However long the caller takes, no more batches than asked for are made ready. */
static void test_a_slow_caller_bounds_the_batches(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(3000, 4, NULL);
    recmap_order *order = order_of_kind(0, 3000, 1);
    recmap_loader_options options = many_threads();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    assert_int_equal(statistics_of(loader).thread_count, 0);
    for (int i = 0; i < 20; i++) {
        next_batch(&batch, loader);
        for (int wait = 0; wait < 1000 && statistics_of(loader).batches_ready < 6; wait++)
            usleep(1000);
        assert_int_equal(statistics_of(loader).batches_ready, 6);
        usleep(1000);
        assert_int_equal(statistics_of(loader).batches_ready, 6);
    }
    recmap_loader_statistics statistics = statistics_of(loader);
    assert_true(statistics.worker_wait_ns > 20 * 1000 * 1000u); /* four threads, 20 ms */
    assert_int_equal(statistics.thread_count, 4);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* Large batches on one thread: the caller waits, and is told how long. */
static void test_waits_for_slow_workers_are_counted(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(20000, 4, NULL);
    recmap_order *order = order_of_kind(0, 20000, 1);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 20000;
    options.thread_count = 1;
    options.batches_ahead = 1;
    recmap_loader *loader = loader_open(dataset, order, &options);
    struct number_list list = {NULL, 0, 0};
    for (int epoch = 0; epoch < 5; epoch++) take_steps(&list, loader, SIZE_MAX);
    assert_int_equal(list.count, 100000);
    assert_true(statistics_of(loader).caller_wait_ns > 0);
    loader_close(loader, order, dataset);
    free(list.numbers);
}

static void test_statistics_count_delivered_batches(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(1000, 4, NULL);
    recmap_order *order = order_of_kind(0, 1000, 1);
    recmap_loader_options options = many_threads();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    uint64_t records = 0, bytes = 0, batches = 0;
    for (int i = 0; i < 600; i++) { /* over two ends of epochs, and a seek */
        if (i == 300) assert_int_equal(recmap_loader_seek(loader, 0, 3, NULL), RECMAP_OK);
        next_batch(&batch, loader);
        batches += batch != NULL;
        for (size_t r = 0; batch && r < recmap_batch_count(batch); r++, records++)
            bytes += recmap_batch_records(batch)[r].size;
        recmap_loader_statistics statistics = statistics_of(loader);
        assert_int_equal(statistics.record_count, records);
        assert_int_equal(statistics.byte_count, bytes);
        assert_int_equal(statistics.batch_count, batches);
        assert_true(statistics.batches_ready <= 6);
    }
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* Seeks while all threads are at it: what they fill for another place never comes through. */
static void test_seeks_among_threads(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(3000, 4, NULL);
    recmap_order *order = order_of_kind(0, 3000, 1);
    recmap_loader_options options = many_threads();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    struct rng random = {5};
    for (int i = 0; i < 2000; i++) {
        uint64_t position = rng_below(&random, 2900), epoch = rng_below(&random, 9), due[4];
        assert_int_equal(recmap_loader_seek(loader, epoch, position, NULL), RECMAP_OK);
        for (uint64_t steps = rng_below(&random, 10); steps; steps--, position += 4) {
            next_batch(&batch, loader);
            assert_int_equal(recmap_order_read(due, order, epoch, position, 4, NULL), RECMAP_OK);
            assert_batch(batch, due, 4);
        }
    }
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

struct watcher {
    recmap_loader *loader;
    atomic_bool is_done;
};

static void *watch(void *context) {
    struct watcher *watcher = context;
    recmap_loader_statistics statistics;
    recmap_skipped skipped[4];
    size_t count;
    uint64_t before = 0;
    while (!watcher->is_done) {
        if (recmap_loader_get_statistics(&statistics, watcher->loader, NULL) != RECMAP_OK) abort();
        if (recmap_loader_get_skipped(skipped, 4, &count, watcher->loader, 0, NULL) != RECMAP_OK)
            abort();
        if (statistics.record_count < before) abort();
        before = statistics.record_count;
    }
    return NULL;
}

/* One thread reads the statistics all the time while another one reads batches, with bad records in
 * between that change them. */
static void test_statistics_of_another_thread(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(3000, 4, NULL);
    recmap_order *order = order_of_kind(0, 3000, 1);
    for (uint64_t number = 0; number < 3000; number += 100) numbered_flip(dataset, number);
    recmap_loader_options options = many_threads();
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    struct watcher watching = {loader_open(dataset, order, &options), false};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, watch, &watching), 0);
    struct number_list list = {NULL, 0, 0};
    take_steps(&list, watching.loader, SIZE_MAX);
    assert_int_equal(list.count, 2970);
    watching.is_done = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    recmap_loader_destroy(watching.loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    free(list.numbers);
}

struct runner {
    recmap_dataset *dataset;
    recmap_order *order;
    uint64_t sum;
};

static void *run(void *context) {
    struct runner *runner = context;
    recmap_loader_options options = many_threads();
    recmap_loader *loader;
    recmap_batch *batch = NULL;
    if (recmap_loader_create(&loader, runner->dataset, runner->order, &options, NULL) != RECMAP_OK)
        abort();
    do {
        if (recmap_loader_next(&batch, loader, NULL) != RECMAP_OK) abort();
        for (size_t i = 0; batch && i < recmap_batch_count(batch); i++)
            runner->sum += recmap_batch_records(batch)[i].number;
    } while (batch);
    recmap_loader_destroy(loader);
    return NULL;
}

/* Many loaders on one data set and one order. */
static void test_many_loaders_share_a_data_set(void **unused) {
    (void)unused;
    enum { LOADERS = 6, RECORDS = 2000 };
    for (int access = 0; access < 3; access++) {
        recmap_dataset_options opened = RECMAP_DATASET_OPTIONS_INIT;
        opened.access = (recmap_access)access;
        opened.shard_limit = 2;
        recmap_dataset *dataset = numbered_open(RECORDS, 5, &opened);
        recmap_order *order = order_of_kind(6, RECORDS, 1);
        pthread_t threads[LOADERS];
        struct runner runners[LOADERS];
        for (int i = 0; i < LOADERS; i++) {
            runners[i] = (struct runner){dataset, order, 0};
            assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
        }
        for (int i = 0; i < LOADERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(runners[i].sum, (uint64_t)RECORDS * (RECORDS - 1) / 2);
        }
        recmap_order_release(order);
        recmap_dataset_close(dataset);
    }
}

static bool is_refused(recmap_status status, const recmap_error *error) {
    return status == RECMAP_INVALID && strstr(error->message, "forked") && error->advice[0];
}

/* In a child: every call says what is wrong, destroying does no harm, and a loader of its own goes
 * on from the parent's state. */
static void be_child(recmap_loader *loader, recmap_dataset *dataset, recmap_order *order,
                     const recmap_state *saved) {
    alarm(20);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = many_threads();
    recmap_loader_statistics statistics;
    recmap_state *state = NULL;
    recmap_batch *batch = NULL;
    recmap_skipped skipped;
    uint64_t number;
    size_t count;
    int is_ready;
    if (!is_refused(recmap_loader_next(&batch, loader, &error), &error)) _exit(1);
    if (!is_refused(recmap_loader_wait(&is_ready, loader, 0, &error), &error)) _exit(15);
    if (!is_refused(recmap_loader_save(&state, loader, &error), &error)) _exit(2);
    if (!is_refused(recmap_loader_load(loader, saved, &error), &error)) _exit(3);
    if (!is_refused(recmap_loader_seek(loader, 0, 0, &error), &error)) _exit(4);
    if (!is_refused(recmap_loader_seek_record(loader, 0, 0, &error), &error)) _exit(5);
    if (!is_refused(recmap_loader_tell(&number, &number, loader, &error), &error)) _exit(6);
    if (!is_refused(recmap_loader_steps_left(&number, loader, &error), &error)) _exit(7);
    if (!is_refused(recmap_loader_get_statistics(&statistics, loader, &error), &error)) _exit(8);
    if (!is_refused(recmap_loader_get_skipped(&skipped, 1, &count, loader, 0, &error), &error))
        _exit(9);
    recmap_loader_destroy(loader);
    if (recmap_loader_create(&loader, dataset, order, &options, NULL) != RECMAP_OK) _exit(10);
    if (recmap_loader_load(loader, saved, NULL) != RECMAP_OK) _exit(11);
    if (recmap_loader_next(&batch, loader, NULL) != RECMAP_OK || !batch) _exit(12);
    const recmap_state_info *info = recmap_state_get_info(saved);
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t position = info->position + i;
        if (recmap_order_at(&number, order, info->epoch, &position, 1, NULL)) _exit(13);
        if (!numbered_holds(&recmap_batch_records(batch)[i], number)) _exit(14);
    }
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    _exit(0);
}

/* Forks at any time of the threads' work. The sanitizers do not follow a fork of many threads. */
static void test_a_forked_child_cannot_use_the_loader(void **unused) {
    (void)unused;
    if (has_thread_sanitizer || has_address_sanitizer) skip();
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(3000, 4, NULL);
    recmap_order *order = order_of_kind(0, 3000, 1);
    recmap_loader_options options = many_threads();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    for (int i = 0; i < 100; i++) {
        for (int step = 0; step <= i % 5; step++) next_batch(&batch, loader);
        recmap_state *saved;
        ASSERT_OK(recmap_loader_save(&saved, loader, &error), &error);
        pid_t child = fork();
        if (!child) be_child(loader, dataset, order, saved);
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
        recmap_state_destroy(saved);
    }
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* A loader that was not asked for anything yet goes along into a child. */
static void test_fork_before_use(void **unused) {
    (void)unused;
    if (has_thread_sanitizer) skip();
    recmap_dataset *dataset = numbered_open(100, 2, NULL);
    recmap_order *order = order_of_kind(1, 100, 1);
    recmap_loader *loader = loader_open(dataset, order, NULL);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child) {
            int ended;
            assert_int_equal(waitpid(child, &ended, 0), child);
            assert_int_equal(ended, 0);
            continue;
        }
        alarm(20);
        recmap_batch *batch = NULL;
        for (uint64_t number = 0; number < 100; number++) {
            if (recmap_loader_next(&batch, loader, NULL) != RECMAP_OK || !batch) _exit(1);
            if (!numbered_holds(recmap_batch_records(batch), number)) _exit(2);
        }
        recmap_batch_destroy(batch);
        recmap_loader_destroy(loader);
        _exit(0);
    }
    struct number_list list = {NULL, 0, 0};
    assert_int_equal(take_steps(&list, loader, SIZE_MAX), 100);
    loader_close(loader, order, dataset);
    free(list.numbers);
}

static atomic_int wrong_threads;
static pthread_t main_thread;

static void on_signal(int signal_number) {
    (void)signal_number;
    if (!pthread_equal(pthread_self(), main_thread)) wrong_threads++;
}

/* Signals of the application go to its own threads. */
static void test_signals_go_to_the_threads_of_the_application(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(100, 2, NULL);
    recmap_order *order = order_of_kind(1, 100, 1);
    recmap_loader_options options = many_threads();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    next_batch(&batch, loader);
    main_thread = pthread_self();
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigaction(SIGUSR1, &action, &before);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old); /* a thread that does not block it would get it */
    for (int i = 0; i < 10; i++) kill(getpid(), SIGUSR1);
    usleep(20000);
    assert_int_equal(wrong_threads, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGUSR1, &before, NULL);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* Past the limit of epochs the caller still gets every batch, however it waits, and after a move.
 */
static void test_limit_of_epochs(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(50, 2, NULL);
    recmap_order *order = order_of_kind(1, 50, 1);
    recmap_loader_options options = many_threads();
    options.batches_ahead_epoch_limit = 2;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    for (uint64_t i = 0; i < 6 * 14; i++) {
        uint64_t due[4], epoch = i / 14 % 4, step = i % 14, count = step < 12 ? 4 : 2;
        if (i == 4 * 14) assert_int_equal(recmap_loader_seek(loader, 0, 0, NULL), RECMAP_OK);
        for (int is_ready = 0; i % 2 && !is_ready;)
            assert_int_equal(recmap_loader_wait(&is_ready, loader, 0, NULL), RECMAP_OK);
        next_batch(&batch, loader);
        if (step == 13) {
            assert_null(batch);
            if (epoch >= 1) assert_int_equal(statistics_of(loader).batches_ready, 0);
            continue;
        }
        assert_int_equal(recmap_order_read(due, order, epoch, step * 4, count, NULL), RECMAP_OK);
        assert_batch(batch, due, count);
    }
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(loaders_are_destroyed_at_any_time),
        TEST(a_slow_caller_bounds_the_batches),
        TEST(waits_for_slow_workers_are_counted),
        TEST(statistics_count_delivered_batches),
        TEST(seeks_among_threads),
        TEST(statistics_of_another_thread),
        TEST(many_loaders_share_a_data_set),
        TEST(a_forked_child_cannot_use_the_loader),
        TEST(fork_before_use),
        TEST(signals_go_to_the_threads_of_the_application),
        TEST(limit_of_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
