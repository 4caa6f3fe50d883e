/* What a thread's time counts for. No test asserts a time: stages are compared with each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "base/os/activity.h"
#include "base/os/process.h"

#define MS UINT64_C(1000000)

static struct activity activity;

static int attach(void **state) {
    (void)state;
    activity_init(&activity);
    activity_attach(&activity);
    activity_begin(1);
    return 0;
}

static int detach(void **state) {
    (void)state;
    activity_attach(NULL);
    activity_deinit(&activity);
    return 0;
}

/* Uses a CPU for this long. */
static void compute(uint64_t duration_ns) {
    clock_t end = clock() + (clock_t)(duration_ns / 1000 * CLOCKS_PER_SEC / 1000000);
    while (clock() < end) continue;
}

/* Returns the stage with the most time. */
static enum activity_stage find_largest(void) {
    struct activity copy;
    enum activity_stage found = ACTIVITY_DISK;
    activity_copy(&copy, &activity);
    for (int stage = ACTIVITY_DISK; stage < ACTIVITY_STAGES; stage++)
        if (copy.total_ns[stage] > copy.total_ns[found]) found = (enum activity_stage)stage;
    return found;
}

static enum activity_stage run(enum activity_stage stage, uint64_t sleep_ms, uint64_t compute_ms) {
    enum activity_stage former = activity_enter(stage);
    if (sleep_ms) sleep_ns(sleep_ms * MS);
    if (compute_ms) compute(compute_ms * MS);
    activity_leave(former);
    return find_largest();
}

/* After it slept, a thread may wait for a CPU for longer than that, which is not exactly known. */
static bool counts_for_disk(uint64_t duration_ns) {
    struct activity copy;
    activity_copy(&copy, &activity);
    return copy.total_ns[ACTIVITY_DISK] >= duration_ns;
}

static void test_sleeping_while_reading_is_the_disk(void **state) {
    (void)state;
    run(ACTIVITY_DISK, 50, 0);
    assert_true(counts_for_disk(25 * MS));
}

static void test_computing_while_reading_is_parsing(void **state) {
    (void)state;
    assert_int_equal(run(ACTIVITY_DISK, 0, 50), ACTIVITY_PARSE);
}

/* One short sleep, for a lock, does not make all of the time the disk's. */
static void test_a_short_sleep_counts_as_long_as_it_is(void **state) {
    (void)state;
    assert_int_equal(run(ACTIVITY_DISK, 2, 100), ACTIVITY_PARSE);
}

static void test_sleeping_while_inflating_is_the_disk(void **state) {
    (void)state;
    run(ACTIVITY_INFLATE, 50, 0);
    assert_true(counts_for_disk(25 * MS));
}

static void test_inflating(void **state) {
    (void)state;
    assert_int_equal(run(ACTIVITY_INFLATE, 2, 50), ACTIVITY_INFLATE);
}

/* Without a page that was read, nobody knows what a thread waits for while it computes. */
static void test_sleeping_in_other_stages_counts_for_them(void **state) {
    (void)state;
    const enum activity_stage stages[] = {ACTIVITY_STORE, ACTIVITY_PARSE, ACTIVITY_IMAGES,
                                          ACTIVITY_FOLLOW, ACTIVITY_LOCKED};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        assert_int_equal(run(stages[i], 20, 0), stages[i]);
        detach(NULL);
        attach(NULL);
    }
}

/* A thread that had nothing to do has not waited for a disk, nor has one that waited for a store.
 */
static void test_sleeping_before_reading_does_not_count(void **state) {
    (void)state;
    sleep_ns(50 * MS);
    activity_begin(2);
    assert_int_equal(run(ACTIVITY_DISK, 0, 5), ACTIVITY_PARSE);
    run(ACTIVITY_STORE, 50, 0);
    struct activity copy;
    enum activity_stage former = activity_enter(ACTIVITY_DISK);
    compute(20 * MS);
    activity_leave(former);
    activity_copy(&copy, &activity);
    assert_true(copy.total_ns[ACTIVITY_DISK] < copy.total_ns[ACTIVITY_PARSE] / 4);
}

static void *sleep_in_stage(void *context) {
    struct activity *other = context;
    activity_attach(other);
    activity_begin(7);
    activity_enter(ACTIVITY_INFLATE);
    sleep_ns(1000 * MS);
    return NULL;
}

/* Another thread sees what the present stage is spent on. */
static void test_a_thread_that_sleeps_now(void **state) {
    (void)state;
    struct activity other, copy = {.stage = ACTIVITY_IDLE};
    pthread_t thread;
    activity_init(&other);
    assert_int_equal(pthread_create(&thread, NULL, sleep_in_stage, &other), 0);
    while (copy.job_ns[ACTIVITY_DISK] < 50 * MS) {
        sleep_ns(MS);
        activity_copy(&copy, &other);
    }
    assert_true(copy.stage == ACTIVITY_INFLATE && copy.job == 7);
    assert_int_equal(pthread_join(thread, NULL), 0);
    activity_deinit(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, attach, detach)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_sleeping_while_reading_is_the_disk),
        TEST(test_computing_while_reading_is_parsing),
        TEST(test_a_short_sleep_counts_as_long_as_it_is),
        TEST(test_sleeping_while_inflating_is_the_disk),
        TEST(test_inflating),
        TEST(test_sleeping_in_other_stages_counts_for_them),
        TEST(test_sleeping_before_reading_does_not_count),
        TEST(test_a_thread_that_sleeps_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
