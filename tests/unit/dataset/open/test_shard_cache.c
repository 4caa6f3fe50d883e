/* Which shards stay open where not all may: those used last. A shard that is open is read although
 * its file has no name any more, one that was closed is not, which tells them apart. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/random.h"
#include "support/shards/oracle.h"

enum { SHARDS = 8 };

/* A shard has one record: its number. */
static int enter(void **state) {
    if (folder_enter(state)) return -1;
    for (uint8_t i = 0; i < SHARDS; i++) {
        struct buffer bytes = BUFFER_INIT;
        oracle_add_record(&bytes, &i, 1);
        file_write(shard_names(SHARDS)[i], bytes.data, bytes.size);
        buffer_deinit(&bytes);
    }
    index_build("set.rmx", NULL, shard_names(SHARDS), SHARDS);
    return 0;
}

static recmap_dataset *open_limited(int access, unsigned limit) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = (recmap_access)access;
    options.shard_limit = limit;
    return dataset_open("set.rmx", &options);
}

static void hide(size_t shard) {
    assert_int_equal(rename(shard_names(SHARDS)[shard], "hidden"), 0);
}

static void show(size_t shard) {
    assert_int_equal(rename("hidden", shard_names(SHARDS)[shard]), 0);
}

/* Reads the record of a shard, by get or gather. */
static recmap_status use(recmap_dataset *dataset, uint64_t shard, bool gathers) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    recmap_batch *batch = NULL;
    recmap_status status;
    if (gathers) {
        ASSERT_OK(recmap_batch_create(&batch, &error), &error);
        status = recmap_dataset_gather(batch, dataset, &shard, 1, &error);
        if (status == RECMAP_OK) record = recmap_batch_records(batch)[0];
    } else {
        status = recmap_dataset_get(&record, dataset, shard, &error);
    }
    if (status == RECMAP_OK) assert_int_equal(record.data[0], shard);
    else assert_string_equal(error.path, shard_names(SHARDS)[shard]);
    if (status == RECMAP_OK && !gathers) recmap_record_release(&record);
    recmap_batch_destroy(batch);
    return status;
}

/* Returns true if the shard is open: then this is a use of it. */
static bool is_open(recmap_dataset *dataset, size_t shard, bool gathers) {
    hide(shard);
    recmap_status status = use(dataset, shard, gathers);
    show(shard);
    if (status != RECMAP_OK) assert_int_equal(status, RECMAP_IO);
    return status == RECMAP_OK;
}

static void test_oldest_closes(void **state) {
    (void)state;
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_limited(access, 2);
        assert_int_equal(use(dataset, 0, false), RECMAP_OK);
        assert_int_equal(use(dataset, 1, false), RECMAP_OK);
        assert_int_equal(use(dataset, 0, false), RECMAP_OK);
        assert_int_equal(use(dataset, 2, false), RECMAP_OK);
        assert_false(is_open(dataset, 1, false));
        assert_true(is_open(dataset, 0, false));
        assert_true(is_open(dataset, 2, false));
        recmap_dataset_close(dataset);
    }
}

/* What should be open, the shard used last first. */
struct model {
    size_t shards[SHARDS];
    size_t count;
    size_t limit;
};

/* Moves the shard to the front; false when it was not open. */
static bool model_use(struct model *cache, size_t shard) {
    size_t at = 0;
    while (at < cache->count && cache->shards[at] != shard) at++;
    bool was_open = at < cache->count;
    if (!was_open && cache->count < cache->limit) cache->count++;
    if (!was_open) at = cache->count - 1;
    memmove(cache->shards + 1, cache->shards, at * sizeof *cache->shards);
    cache->shards[0] = shard;
    return was_open;
}

static void test_as_a_list_does(void **state) {
    (void)state;
    struct rng random = {11};
    for (unsigned limit = 1; limit <= SHARDS; limit++) {
        bool gathers = rng_one_in(&random, 2);
        recmap_dataset *dataset = open_limited((int)rng_below(&random, 2), limit);
        struct model cache = {.limit = limit};
        for (int i = 0; i < 300; i++) {
            size_t shard = (size_t)rng_below(&random, SHARDS);
            bool was_open = model_use(&cache, shard);
            assert_int_equal(is_open(dataset, shard, gathers), was_open);
            if (!was_open) assert_int_equal(use(dataset, shard, gathers), RECMAP_OK);
        }
        recmap_dataset_close(dataset);
    }
}

/* A record that is held keeps its shard open, beyond the limit too, until it is released. */
static void test_held_stays(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_limited(RECMAP_ACCESS_MAP, 2);
    recmap_record held;
    ASSERT_OK(recmap_dataset_get(&held, dataset, 0, &error), &error);
    for (uint64_t shard = 1; shard < SHARDS; shard++)
        assert_int_equal(use(dataset, shard, false), RECMAP_OK);
    assert_int_equal(held.data[0], 0);
    assert_false(is_open(dataset, SHARDS - 2, false));
    assert_true(is_open(dataset, SHARDS - 1, false));
    assert_true(is_open(dataset, 0, false));
    /* Released it is the one used last. */
    recmap_record_release(&held);
    assert_int_equal(use(dataset, 1, false), RECMAP_OK);
    assert_true(is_open(dataset, 0, false));
    assert_false(is_open(dataset, SHARDS - 1, false));
    recmap_dataset_close(dataset);
}

/* Beyond the limit a shard closes as soon as it can: when another opens, or when its record is
 * released. */
static void test_closes_at_once(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_limited(RECMAP_ACCESS_MAP, 2);
    recmap_record held[3];
    ASSERT_OK(recmap_dataset_get(&held[0], dataset, 0, &error), &error);
    assert_int_equal(use(dataset, 1, false), RECMAP_OK);
    ASSERT_OK(recmap_dataset_get(&held[2], dataset, 2, &error), &error);
    assert_false(is_open(dataset, 1, false));
    ASSERT_OK(recmap_dataset_get(&held[1], dataset, 1, &error), &error);
    recmap_record_release(&held[0]);
    assert_false(is_open(dataset, 0, false));
    assert_int_equal(held[1].data[0], 1);
    recmap_record_release(&held[1]);
    recmap_record_release(&held[2]);
    assert_true(is_open(dataset, 1, false));
    assert_true(is_open(dataset, 2, false));
    recmap_dataset_close(dataset);
}

enum { FILES = 40, SETS = 6 };

/* Lets the process open FILES files; data sets use half of them. */
static struct rlimit limit_files(void) {
    struct rlimit former, limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &former), 0);
    limit = former;
    limit.rlim_cur = FILES;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return former;
}

static size_t count_files(void) {
    size_t count = 0;
    for (int fd = 0; fd < FILES; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* All data sets of a process share its descriptors: the shard that was used least recently is
 * closed, whichever data set it belongs to. */
static void test_sets_share_descriptors(void **state) {
    (void)state;
    for (int access = RECMAP_ACCESS_READ; access <= RECMAP_ACCESS_DIRECT; access++) {
        recmap_dataset *sets[SETS];
        size_t without = count_files();
        for (int i = 0; i < SETS; i++) sets[i] = open_limited(access, 0);
        size_t before = count_files();
        struct rlimit former = limit_files();
        for (int round = 0; round < 3; round++)
            for (uint64_t shard = 0; shard < SHARDS; shard++)
                for (int i = 0; i < SETS; i++)
                    assert_int_equal(use(sets[i], shard, round == 1), RECMAP_OK);
        assert_true(count_files() - before <= FILES / 2);
        /* The last set's last shard is open, and its first is not. */
        hide(SHARDS - 1);
        assert_int_equal(use(sets[SETS - 1], SHARDS - 1, false), RECMAP_OK);
        show(SHARDS - 1);
        hide(0);
        assert_int_equal(use(sets[SETS - 1], 0, false), RECMAP_IO);
        show(0);
        /* A set that is closed gives its descriptors back. */
        for (int i = 0; i < SETS; i++) recmap_dataset_close(sets[i]);
        assert_int_equal(count_files(), without);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &former), 0);
    }
}

/* Reads shards of sets that other threads read, and of one that it opens and closes. */
static void *read_sets(void *context) {
    recmap_dataset **sets = context;
    struct rng random = {(uint64_t)(uintptr_t)&random};
    for (int i = 0; i < 300; i++) {
        recmap_dataset *own = i % 10 ? NULL : open_limited(RECMAP_ACCESS_READ, 0);
        for (int k = 0; own && k < SHARDS; k++)
            if (use(own, (uint64_t)k, false) != RECMAP_OK) abort();
        for (int k = 0; k < 20; k++)
            if (use(sets[rng_below(&random, SETS)], rng_below(&random, SHARDS), k % 2) != RECMAP_OK)
                abort();
        recmap_dataset_close(own);
    }
    return NULL;
}

static void test_threads_share_descriptors(void **state) {
    (void)state;
    enum { THREADS = 4 };
    recmap_dataset *sets[SETS];
    pthread_t threads[THREADS];
    for (int i = 0; i < SETS; i++) sets[i] = open_limited(RECMAP_ACCESS_READ, 0);
    struct rlimit former = limit_files();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_sets, sets), 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child) _exit(use(sets[i % SETS], (uint64_t)i % SHARDS, false) == RECMAP_OK ? 0 : 1);
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < SETS; i++) recmap_dataset_close(sets[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &former), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(oldest_closes),  TEST(as_a_list_does),         TEST(held_stays),
        TEST(closes_at_once), TEST(sets_share_descriptors), TEST(threads_share_descriptors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
