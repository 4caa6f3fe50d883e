/* What a thread's time counts for. No test asserts a time: stages are compared with each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
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

/* ---- What is read. */

static bool describe(struct activity_request *request, const void *context) {
    const uint64_t *offset = context;
    if (!*offset) return false;
    activity_request_fill(request, "a.tfrecord", *offset, 10);
    return true;
}

struct reader {
    struct activity activity;
    enum activity_stage stage;
    uint64_t offset; /* of what is touched; 0: nothing */
    bool is_mapped;
};

static void *read_slowly(void *context) {
    struct reader *reader = context;
    activity_attach(&reader->activity);
    if (reader->is_mapped) activity_set_pages(describe, &reader->offset);
    else activity_begin_read("a.tfrecord", reader->offset, 10);
    activity_enter(reader->stage);
    sleep_ns(300 * MS);
    activity_leave(ACTIVITY_IDLE);
    activity_end_read();
    activity_set_pages(NULL, NULL);
    return NULL;
}

/* Returns true if the reader is seen to wait for its bytes. */
static bool is_pending(struct reader *reader) {
    pthread_t thread;
    struct activity copy = {.stage = ACTIVITY_IDLE};
    bool is_seen = false;
    activity_init(&reader->activity);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, reader), 0);
    while (!is_seen && copy.total_ns[ACTIVITY_DISK] < 100 * MS) {
        activity_copy(&copy, &reader->activity);
        is_seen = copy.request.name[0];
        sleep_ns(MS);
    }
    if (is_seen) {
        assert_string_equal(copy.request.name, "a.tfrecord");
        assert_true(copy.request.first_byte == 64 && copy.request.last_byte == 73);
        assert_true(copy.request.attempt == 1 && copy.request.started_ns <= clock_ns());
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    activity_copy(&copy, &reader->activity);
    assert_string_equal(copy.request.name, "");
    activity_deinit(&reader->activity);
    return is_seen;
}

static void test_what_a_sleeping_thread_reads_is_pending(void **state) {
    (void)state;
    assert_true(is_pending(&(struct reader){.stage = ACTIVITY_DISK, .offset = 64}));
    assert_true(is_pending(&(struct reader){.stage = ACTIVITY_INFLATE, .offset = 64}));
    assert_true(
        is_pending(&(struct reader){.stage = ACTIVITY_DISK, .offset = 64, .is_mapped = true}));
}

/* Pages of the index are not described. */
static void test_nothing_else_is_pending(void **state) {
    (void)state;
    assert_false(is_pending(&(struct reader){.stage = ACTIVITY_DISK, .is_mapped = true}));
}

static void test_the_end_of_a_long_name_is_kept(void **state) {
    (void)state;
    char name[1000];
    struct activity_request request;
    memset(name, 'a', sizeof name);
    snprintf(name + sizeof name - 11, 11, "/x.tfrecor");
    activity_request_fill(&request, name, 0, 0);
    assert_int_equal(strlen(request.name), sizeof request.name - 1);
    assert_string_equal(request.name + sizeof request.name - 11, "/x.tfrecor");
    assert_true(!request.first_byte && !request.last_byte);
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
        TEST(test_what_a_sleeping_thread_reads_is_pending),
        TEST(test_nothing_else_is_pending),
        TEST(test_the_end_of_a_long_name_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
