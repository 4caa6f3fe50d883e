/* Data sets that are open across fork: many children read at once, whoever closes first, and also
 * when a thread forks while others read. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "support/emulation.h"

enum { CHILDREN = 64, READERS = 3, FORKS = 20 };

static struct fixture data;

/* Ways to read. */
static recmap_dataset_options ways[4] = {
    RECMAP_DATASET_OPTIONS_INIT,
    RECMAP_DATASET_OPTIONS_INIT,
    RECMAP_DATASET_OPTIONS_INIT,
    RECMAP_DATASET_OPTIONS_INIT,
};
static const char *const way_names[4] = {"map", "pread", "few maps", "few files, index in memory"};

static const char *get_many(recmap_dataset *dataset, size_t count, uint64_t random) {
    for (size_t i = 0; i < count; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        uint64_t number = choose_below(&random, FIXTURE_RECORDS);
        if (recmap_dataset_get(&record, dataset, number, &error) != RECMAP_OK)
            return case_says("%s", error.message);
        bool holds = payload_holds(&record, number);
        recmap_record_release(&record);
        if (!holds) return "wrong bytes";
    }
    return NULL;
}

static size_t gets_of_a_child(void) {
    return test_is_long() ? 10000 : 500;
}

/* What a child does: waits for the parent where it must, reads, closes or not. */
static _Noreturn void be_child(recmap_dataset *dataset, size_t child, int wait_on) {
    char byte;
    child_prepare();
    /* They all run at the same time, and on few cores each has a small share. */
    alarm(test_is_long() ? 300 : 60);
    if (wait_on >= 0 && read(wait_on, &byte, 1) < 0) _exit(2);
    const char *wrong = get_many(dataset, gets_of_a_child(), test_seed() + child);
    if (!wrong) wrong = dataset_check_all(dataset, FIXTURE_RECORDS, NULL);
    if (wrong) printf("child %zu: %s\n", child, wrong);
    fflush(stdout);
    if (child % 2) recmap_dataset_close(dataset);
    _exit(wrong != NULL);
}

static bool all_passed(const pid_t *children, size_t count) {
    bool passed = true;
    for (size_t i = 0; i < count; i++) {
        int ended;
        require(waitpid(children[i], &ended, 0) == children[i], "waitpid");
        if (WIFSIGNALED(ended)) printf("child %zu: %s\n", i, strsignal(WTERMSIG(ended)));
        passed &= !ended;
    }
    return passed;
}

static void fork_many(const recmap_dataset_options *options, bool close_first) {
    recmap_dataset *dataset;
    pid_t children[CHILDREN];
    int gate[2];
    assert_int_equal(recmap_dataset_open(&dataset, data.index, options, NULL), RECMAP_OK);
    assert_null(get_many(dataset, 50, 1));
    assert_int_equal(pipe(gate), 0);
    fflush(stdout);
    for (size_t i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        require(children[i] >= 0, "fork");
        if (children[i]) continue;
        close(gate[1]);
        be_child(dataset, i, close_first ? gate[0] : -1);
    }
    /* The end of the pipe opens the gate. */
    if (close_first) recmap_dataset_close(dataset);
    close(gate[1]);
    const char *wrong = close_first ? NULL : get_many(dataset, gets_of_a_child(), 2);
    assert_true(all_passed(children, CHILDREN));
    close(gate[0]);
    if (close_first) return;
    assert_null(wrong);
    assert_null(dataset_check_all(dataset, FIXTURE_RECORDS, NULL));
    recmap_dataset_close(dataset);
}

static void test_children_read(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) fork_many(&ways[i], false);
}

static void test_parent_closes_first(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) fork_many(&ways[i], true);
}

/* Threads that read until they are told to stop. */
struct readers {
    recmap_dataset *dataset;
    atomic_bool is_over;
    atomic_int failed_count;
};

static void *read_on(void *context) {
    struct readers *readers = context;
    for (uint64_t i = 0; !readers->is_over; i++)
        if (get_many(readers->dataset, 20, i)) readers->failed_count++;
    return NULL;
}

static void *fork_on(void *context) {
    struct readers *readers = context;
    for (size_t i = 0; i < FORKS; i++) {
        pid_t child = fork();
        require(child >= 0, "fork");
        if (!child) {
            child_prepare();
            const char *wrong = get_many(readers->dataset, 200, i);
            if (!wrong && i % 2) recmap_dataset_close(readers->dataset);
            _exit(wrong != NULL);
        }
        if (!all_passed(&child, 1)) readers->failed_count++;
    }
    return NULL;
}

static const char *fork_beside_readers(void *context, size_t number) {
    struct readers at = {0};
    pthread_t threads[READERS], forker;
    (void)context;
    if (recmap_dataset_open(&at.dataset, data.index, &ways[number % 4], NULL) != RECMAP_OK)
        return "open failed";
    for (size_t i = 0; i < READERS; i++)
        require(!pthread_create(&threads[i], NULL, read_on, &at), "a thread");
    require(!pthread_create(&forker, NULL, fork_on, &at), "a thread");
    pthread_join(forker, NULL);
    at.is_over = true;
    for (size_t i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
    recmap_dataset_close(at.dataset);
    return at.failed_count ? case_says("%s: a reader failed", way_names[number % 4]) : NULL;
}

static void test_a_thread_forks(void **state) {
    (void)state;
    if (is_emulated(__func__, "a fork may hang while other threads run")) skip();
    if (test_is_sanitized()) {
        print_message("skipped: a sanitizer's allocator may be locked in the child\n");
        skip();
    }
    assert_int_equal(
        cases_run("fork beside readers", test_is_long() ? 200 : 8, 1, fork_beside_readers, NULL),
        0);
}

static int enter(void **state) {
    (void)state;
    ways[1].access = ways[3].access = RECMAP_ACCESS_READ;
    ways[2].shard_limit = ways[3].shard_limit = 1;
    ways[3].index_in_memory = 1;
    fixture_create(&data);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    test_seed();
    return 0;
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children_read),
        cmocka_unit_test(test_parent_closes_first),
        cmocka_unit_test(test_a_thread_forks),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
