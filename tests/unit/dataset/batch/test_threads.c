/* Many at once on one data set: threads doing all of it, children of a fork beside their parent. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulation.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"
#include "support/sanitizers.h"

enum { THREADS = 8, CHILDREN = 8 };

struct job {
    const struct known *set;
    recmap_dataset *dataset;
    uint64_t seed;
};

static recmap_status stop(recmap_status status) {
    if (status != RECMAP_OK) abort();
    return status;
}

static void get_one(const struct job *job, struct rng *random) {
    uint64_t number = rng_below(random, job->set->count);
    const struct known_record *due = &job->set->records[number];
    recmap_record record;
    stop(recmap_dataset_get(&record, job->dataset, number, NULL));
    if (record.size != due->size || memcmp(record.data, due->data, due->size)) abort();
    recmap_record_release(&record);
}

static void gather_some(const struct job *job, recmap_batch *batch, struct rng *random) {
    uint64_t numbers[50];
    for (size_t i = 0; i < 50; i++) numbers[i] = rng_below(random, job->set->count);
    stop(recmap_dataset_gather(batch, job->dataset, numbers, 50, NULL));
    for (size_t i = 0; i < 50; i++) {
        const recmap_record *record = &recmap_batch_records(batch)[i];
        const struct known_record *due = &job->set->records[numbers[i]];
        if (record->size != due->size || memcmp(record->data, due->data, due->size)) abort();
    }
    if (rng_one_in(random, 3)) recmap_batch_clear(batch);
}

static void find_one(const struct job *job, struct rng *random) {
    uint64_t number = rng_below(random, job->set->count), found[400];
    const struct known_record *due = &job->set->records[number];
    char text[24];
    recmap_value id = known_id(job->set, due->id, text);
    size_t count;
    stop(recmap_dataset_find_all(found, 400, &count, job->dataset, &id, NULL));
    bool is_there = !due->has_id;
    for (size_t i = 0; i < count; i++) is_there |= found[i] == number;
    if (!is_there) abort();
}

static void read_columns(const struct job *job, struct rng *random) {
    uint64_t first = rng_below(random, job->set->count);
    int64_t length, label;
    recmap_value word;
    stop(recmap_dataset_read_int64(&length, job->dataset, 0, first, 1, NULL));
    stop(recmap_dataset_read_int64(&label, job->dataset, 1, first, 1, NULL));
    stop(recmap_dataset_read_bytes(&word, job->dataset, 3, first, 1, NULL));
    const struct known_record *due = &job->set->records[first];
    if ((size_t)length != due->size || label != (due->has_label ? due->label : 5)) abort();
}

/* A thread that makes random queries of every kind. All threads share one data set, so a thread
 * sanitizer sees every pair of queries. */
static void *work(void *context) {
    const struct job *job = context;
    struct rng random = {job->seed};
    recmap_batch *batch;
    stop(recmap_batch_create(&batch, NULL));
    for (int round = 0; round < (is_long() ? 20000 : 400); round++) {
        switch (rng_below(&random, 6)) {
        case 0: gather_some(job, batch, &random); break;
        case 1: find_one(job, &random); break;
        case 2: read_columns(job, &random); break;
        default: get_one(job, &random);
        }
        if (job->seed % THREADS || round % 100) continue;
        recmap_report *report;
        stop(recmap_dataset_verify(&report, job->dataset, NULL, NULL));
        if (recmap_report_damage_count(report)) abort();
        recmap_report_destroy(report);
    }
    recmap_batch_destroy(batch);
    return NULL;
}

static void run_threads(const struct known *set, recmap_dataset *dataset) {
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){set, dataset, i + THREADS};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static struct known make_set(void) {
    struct rng random = {6};
    struct known_options made = {6, 300, 300, true, true, true};
    struct known set = known_generate(&made, &random);
    recmap_index_options options = known_index_options(&set);
    index_build("set.rmx", &options, shard_names(6), 6);
    return set;
}

static void test_threads_read_the_same_records(void **state) {
    (void)state;
    struct known set = make_set();
    for (int access = 0; access < 2; access++)
        for (unsigned limit = 0; limit < 3; limit++) {
            recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
            options.access = (recmap_access)access;
            options.shard_limit = limit;
            recmap_dataset *dataset = dataset_open("set.rmx", &options);
            run_threads(&set, dataset);
            recmap_dataset_close(dataset);
        }
    known_deinit(&set);
}

/* A record that one thread got is released by another. */
static void *release(void *record) {
    recmap_record_release(record);
    return NULL;
}

static void test_release_by_another_thread(void **state) {
    (void)state;
    struct known set = make_set();
    for (int access = 0; access < 2; access++) {
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = (recmap_access)access;
        options.shard_limit = 1;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        for (uint64_t number = 0; number < 300; number += 7) {
            recmap_record record;
            stop(recmap_dataset_get(&record, dataset, number, NULL));
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, release, &record), 0);
            assert_int_equal(pthread_join(thread, NULL), 0);
        }
        recmap_dataset_close(dataset);
    }
    known_deinit(&set);
}

static void *fork_children(void *context) {
    struct job *job = context;
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] < 0) abort();
        if (children[i]) continue;
        alarm(60);
        struct job mine = {job->set, job->dataset, (uint64_t)i + 1};
        work(&mine);
        recmap_dataset_close(job->dataset);
        _exit(0);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        if (waitpid(children[i], &status, 0) != children[i] || status) abort();
    }
    return NULL;
}

/* A parent and its children at once; while children are forked, eight threads of the parent are at
 * it. The thread sanitizer does not follow a fork of many threads, and the address sanitizer leaves
 * its own locks taken in the child: then the fork comes before the threads. */
static void test_parent_and_children_read_at_once(void **state) {
    (void)state;
    if (has_thread_sanitizer) skip();
    struct known set = make_set();
    for (int access = 0; access < 2; access++)
        for (unsigned limit = 0; limit < 2; limit++) {
            recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
            options.access = (recmap_access)access;
            options.shard_limit = limit;
            recmap_dataset *dataset = dataset_open("set.rmx", &options);
            struct job forking = {&set, dataset, 0};
            if (has_address_sanitizer ||
                is_emulated(__func__, "a fork may hang while other threads run")) {
                fork_children(&forking);
            } else {
                pthread_t forker;
                assert_int_equal(pthread_create(&forker, NULL, fork_children, &forking), 0);
                run_threads(&set, dataset);
                assert_int_equal(pthread_join(forker, NULL), 0);
            }
            recmap_dataset_close(dataset);
        }
    known_deinit(&set);
}

/* Data sets come and go in several threads at once. */
static void *open_and_close(void *context) {
    const struct known *set = context;
    for (int i = 0; i < 20; i++) {
        recmap_dataset *dataset;
        stop(recmap_dataset_open(&dataset, "set.rmx", NULL, NULL));
        struct job at = {set, dataset, (uint64_t)i};
        struct rng random = {(uint64_t)i};
        for (int round = 0; round < 20; round++) get_one(&at, &random);
        recmap_dataset_close(dataset);
    }
    return NULL;
}

static void test_opening_in_threads(void **state) {
    (void)state;
    struct known set = make_set();
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &set), 0);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    known_deinit(&set);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(threads_read_the_same_records),
        TEST(release_by_another_thread),
        TEST(parent_and_children_read_at_once),
        TEST(opening_in_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
