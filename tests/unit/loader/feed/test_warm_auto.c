/* When a loader begins to warm by itself. What it measured is set here, so that no test depends on
 * the speed of a disk. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/control_group.h"
#include "base/os/process.h"
#include "loader/feed/loader.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/dataset/warm/warm_set.h"
#include "unit/loader/feed/fixture.h"

#define SECOND_NS (UINT64_C(1000) * 1000 * 1000)

static int enter_in_memory(void **state) {
    if (folder_enter(state)) return 1;
    warm_set_forge_memory(WARM_LARGE_KIB);
    return 0;
}

/* A loader of a data set of its own, as another process has it. */
struct run {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_loader *loader;
};

static struct run run_begin(recmap_order *order) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    struct run run = {.dataset = dataset_open("set.rmx", NULL), .order = order};
    options.batch_size = 64;
    options.thread_count = 1;
    options.warm = RECMAP_WARM_AUTO;
    run.loader = loader_open(run.dataset, order, &options);
    return run;
}

static void run_end(struct run *run) {
    loader_close(run->loader, run->order, run->dataset);
}

/* ---- Measuring. */

/* Two seconds pass in which the caller waits, and the threads read and parse. */
static void pass_time(recmap_loader *loader, uint64_t wait_ns, uint64_t disk_ns,
                      uint64_t parse_ns) {
    loader->warm.automatic.since_ns = clock_ns() - 2 * SECOND_NS;
    loader->statistics.caller_wait_ns += wait_ns;
    pthread_mutex_lock(&loader->activities[0].lock);
    loader->activities[0].total_ns[ACTIVITY_DISK] += disk_ns;
    loader->activities[0].total_ns[ACTIVITY_PARSE] += parse_ns;
    pthread_mutex_unlock(&loader->activities[0].lock);
}

static void test_only_waiting_for_the_disk_counts(void **state) {
    (void)state;
    warm_set_write(false);
    struct run run = run_begin(warm_set_order(1));
    recmap_loader *loader = run.loader;
    atomic_store(&loader->activity_count, 1);
    assert_false(warm_auto_has_waited(loader)); /* the first time, nothing was measured */
    pass_time(loader, SECOND_NS, SECOND_NS, 0);
    assert_true(warm_auto_has_waited(loader));
    pass_time(loader, 0, SECOND_NS, 0);
    assert_false(warm_auto_has_waited(loader));
    pass_time(loader, SECOND_NS / 4, SECOND_NS, 0);
    assert_false(warm_auto_has_waited(loader));
    pass_time(loader, SECOND_NS, SECOND_NS, SECOND_NS);
    assert_false(warm_auto_has_waited(loader));
    pass_time(loader, SECOND_NS, SECOND_NS, SECOND_NS / 2);
    loader->warm.automatic.since_ns = clock_ns();
    assert_false(warm_auto_has_waited(loader)); /* too soon */
    atomic_store(&loader->activity_count, 0);
    run_end(&run);
}

/* On a busy machine, most of the time is spent on waiting for a CPU after each page. */
static void test_waiting_for_a_cpu_counts_if_records_are_not_in_memory(void **state) {
    (void)state;
    struct warm_auto measured = {
        .wait_ns = SECOND_NS, .busy_ns = 2 * SECOND_NS, .queued_ns = 2 * SECOND_NS - 1};
    assert_false(warm_auto_is_slow(&measured, SECOND_NS)); /* no record was missing */
    measured.record_count = 100;
    measured.missing_count = 24;
    assert_false(warm_auto_is_slow(&measured, SECOND_NS));
    measured.missing_count = 25;
    assert_true(warm_auto_is_slow(&measured, SECOND_NS));
    assert_false(warm_auto_is_slow(&measured, 5 * SECOND_NS)); /* the caller hardly waits */
    measured.queued_ns = SECOND_NS / 2;
    assert_false(warm_auto_is_slow(&measured, SECOND_NS)); /* the threads work */
    measured.disk_ns = SECOND_NS;
    assert_true(warm_auto_is_slow(&measured, SECOND_NS));
}

/* ---- Conditions. */

static recmap_warm_state try(struct run *run) {
    recmap_warm_state why;
    bool may_begin = warm_auto_may_begin(&why, run->loader);
    assert_true(may_begin == (why == RECMAP_WARM_STATE_RUNNING));
    return why;
}

/* Skips the test unless the folder of temporary files is on a disk. */
static void skip_unless_on_disk(void) {
    struct run run = run_begin(warm_set_order(1));
    recmap_warm_state why = try(&run);
    warm_auto_end(&run.loader->warm.automatic);
    run_end(&run);
    if (why == RECMAP_WARM_STATE_UNSUITABLE) skip();
    assert_int_equal(why, RECMAP_WARM_STATE_RUNNING);
}

static void test_one_process_at_a_time(void **state) {
    (void)state;
    warm_set_write(false);
    skip_unless_on_disk();
    struct run run = run_begin(warm_set_order(1)), other = run_begin(warm_set_order(2));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(try(&run), RECMAP_WARM_STATE_RUNNING);
        assert_int_equal(try(&other), RECMAP_WARM_STATE_OTHER);
        warm_auto_end(&run.loader->warm.automatic);
        assert_int_equal(try(&other), RECMAP_WARM_STATE_RUNNING);
        warm_auto_end(&other.loader->warm.automatic);
    }
    run_end(&run);
    run_end(&other);
}

/* A child inherits the lock's file. It neither gets the lock nor keeps it from others afterwards.
 */
static void test_processes_that_were_forked(void **state) {
    (void)state;
    int result, ready[2], go[2];
    char byte = 0;
    warm_set_write(false);
    skip_unless_on_disk();
    struct run run = run_begin(warm_set_order(1)), other = run_begin(warm_set_order(2));
    assert_int_equal(try(&run), RECMAP_WARM_STATE_RUNNING);
    assert_true(!pipe(ready) && !pipe(go));
    pid_t child = fork();
    if (!child) {
        recmap_warm_state why = try(&other);
        bool is_told = write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1;
        _exit(is_told && why == RECMAP_WARM_STATE_OTHER ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    warm_auto_end(&run.loader->warm.automatic);
    assert_int_equal(try(&other), RECMAP_WARM_STATE_RUNNING);
    warm_auto_end(&other.loader->warm.automatic);
    assert_int_equal(write(go[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    for (int i = 0; i < 2; i++) assert_true(!close(ready[i]) && !close(go[i]));
    run_end(&run);
    run_end(&other);
}

static void test_reads_in_order_need_none(void **state) {
    (void)state;
    recmap_order *order;
    recmap_error error = RECMAP_ERROR_INIT;
    warm_set_write(false);
    ASSERT_OK(recmap_order_sequential(&order, WARM_RECORDS, &error), &error);
    struct run run = run_begin(order);
    assert_int_equal(try(&run), RECMAP_WARM_STATE_SEQUENTIAL);
    run_end(&run);
}

static void test_the_rest_must_fit_into_memory(void **state) {
    (void)state;
    const uint64_t kib = (uint64_t)WARM_RECORDS * WARM_FRAME >> 10;
    warm_set_write(false);
    skip_unless_on_disk();
    struct run run = run_begin(warm_set_order(1));
    warm_set_forge_memory(kib);
    assert_int_equal(try(&run), RECMAP_WARM_STATE_MEMORY);
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_loader_seek(run.loader, 0, WARM_RECORDS - 500, &error), &error);
    assert_int_equal(try(&run), RECMAP_WARM_STATE_RUNNING);
    run_end(&run);
}

static void test_compressed_shards_are_not_warmed(void **state) {
    (void)state;
    warm_set_write(true);
    struct run run = run_begin(warm_set_order(1));
    assert_int_equal(try(&run), RECMAP_WARM_STATE_UNSUITABLE);
    run_end(&run);
}

static void test_only_disks_are_warmed(void **state) {
    (void)state;
    if (access("/dev/shm", W_OK)) skip();
    warm_set_write(false);
    struct run run = run_begin(warm_set_order(1));
    assert_int_equal(try(&run), RECMAP_WARM_STATE_UNSUITABLE);
    run_end(&run);
}

/* ---- A whole run. */

static recmap_loader_statistics statistics_of(recmap_loader *loader) {
    recmap_loader_statistics statistics;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_loader_get_statistics(&statistics, loader, &error), &error);
    return statistics;
}

static void test_a_loader_that_waits_begins(void **state) {
    (void)state;
    recmap_batch *batch = NULL;
    warm_set_write(false);
    skip_unless_on_disk();
    struct run run = run_begin(warm_set_order(1)), other = run_begin(warm_set_order(2));
    next_batch(&batch, run.loader);
    assert_int_equal(statistics_of(run.loader).warm_state, RECMAP_WARM_STATE_OFF);
    pass_time(run.loader, SECOND_NS, 1000 * SECOND_NS, 0);
    next_batch(&batch, run.loader);
    recmap_loader_statistics statistics = statistics_of(run.loader);
    while (statistics.warm_state == RECMAP_WARM_STATE_RUNNING) {
        usleep(1000);
        statistics = statistics_of(run.loader);
    }
    assert_int_equal(statistics.warm_state, RECMAP_WARM_STATE_COMPLETE);
    assert_true(statistics.warm_read_size + statistics.warm_present_size > 0);
    next_batch(&batch, run.loader); /* releases the lock */
    assert_int_equal(try(&other), RECMAP_WARM_STATE_RUNNING);
    recmap_batch_destroy(batch);
    run_end(&other);
    run_end(&run);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, warm_set_enter, warm_set_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_only_waiting_for_the_disk_counts),
        TEST(test_waiting_for_a_cpu_counts_if_records_are_not_in_memory),
        TEST(test_one_process_at_a_time),
        TEST(test_processes_that_were_forked),
        TEST(test_reads_in_order_need_none),
        TEST(test_the_rest_must_fit_into_memory),
        TEST(test_compressed_shards_are_not_warmed),
        cmocka_unit_test_setup_teardown(test_only_disks_are_warmed, enter_in_memory,
                                        warm_set_leave),
        TEST(test_a_loader_that_waits_begins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
