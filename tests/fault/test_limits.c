/* Limits of the process: few open files, few maps, little address space, and many more shards than
 * any of them, some of them compressed. All of it must give the same bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

enum { RECORDS_A_SHARD = 4, FILES = 64, MAPS = 10, HELD = 200, THREADS = 4 };

static char folder[128], path[PATH_LIMIT];
static size_t shard_count;
static uint64_t record_count;

static const char *build_all(unsigned thread_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    options.thread_count = thread_count;
    recmap_status status = recmap_index_builder_create(&builder, path, &options, &error);
    for (size_t i = 0; status == RECMAP_OK && i < shard_count; i++) {
        char shard[PATH_LIMIT];
        snprintf(shard, sizeof shard, "%s/s-%zu", folder, i);
        status = recmap_index_builder_add_shard(builder, shard, &error);
    }
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, &error);
    recmap_index_builder_destroy(builder);
    return status == RECMAP_OK ? NULL : case_says("build: %s: %s", error.path, error.message);
}

/* Holds many records of as many shards at once, more than may be open. */
static const char *hold_many(recmap_dataset *dataset) {
    static recmap_record held[HELD];
    recmap_error error = RECMAP_ERROR_INIT;
    const char *wrong = NULL;
    size_t count = 0;
    for (; !wrong && count < HELD; count++) {
        uint64_t number = (uint64_t)count * (record_count / HELD);
        if (recmap_dataset_get(&held[count], dataset, number, &error) != RECMAP_OK) break;
    }
    if (count < HELD) wrong = case_says("holding %zu: %s: %s", count, error.path, error.message);
    for (size_t i = 0; i < count; i++) {
        if (!wrong && !payload_holds(&held[i], (uint64_t)i * (record_count / HELD)))
            wrong = "a record that is held changed";
        recmap_record_release(&held[i]);
    }
    return wrong;
}

struct reader {
    recmap_dataset *dataset;
    uint64_t random;
    recmap_error error;
    const char *wrong;
};

static void *read_random(void *context) {
    struct reader *reader = context;
    reader->error = (recmap_error)RECMAP_ERROR_INIT;
    for (int i = 0; !reader->wrong && i < 500; i++) {
        recmap_record record;
        uint64_t number = choose_below(&reader->random, record_count);
        if (recmap_dataset_get(&record, reader->dataset, number, &reader->error) != RECMAP_OK) {
            reader->wrong = reader->error.message;
            break;
        }
        if (!payload_holds(&record, number)) reader->wrong = "wrong bytes";
        recmap_record_release(&record);
    }
    return NULL;
}

static const char *read_with_threads(recmap_dataset *dataset) {
    static struct reader readers[THREADS];
    pthread_t threads[THREADS];
    const char *wrong = NULL;
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.dataset = dataset, .random = test_seed() + i};
        require(!pthread_create(&threads[i], NULL, read_random, &readers[i]), "a thread");
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (readers[i].wrong) wrong = readers[i].wrong;
    }
    return wrong ? case_says("threads: %s", wrong) : NULL;
}

/* Everything that reads, under what limits there are. */
static const char *read_everything(const recmap_dataset_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = NULL;
    if (recmap_dataset_open(&dataset, path, options, &error) != RECMAP_OK)
        return case_says("open: %s: %s", error.path, error.message);
    const char *wrong = dataset_check_all(dataset, record_count, &error);
    if (wrong && error.status != RECMAP_OK)
        wrong = case_says("%s: %s: %s", wrong, error.path, error.message);
    if (!wrong) wrong = hold_many(dataset);
    if (!wrong) wrong = read_with_threads(dataset);
    recmap_dataset_close(dataset);
    return wrong;
}

static void limit_files(void) {
    struct rlimit limit = {FILES, FILES};
    require(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

/* The calls of mmap that fail, where maps are short. */
static void shorten_maps(uint64_t limit) {
    struct call_plan plan = {.kinds = CALL_BIT(CALL_MAP),
                             .at = limit,
                             .is_sticky = true,
                             .fault = FAULT_ERRNO,
                             .code = ENOMEM};
    interpose_start(&plan);
}

struct limits {
    const char *name;
    recmap_access access;
    unsigned shard_limit;
    uint64_t map_count; /* maps that succeed; 0: all */
};

static const struct limits combinations[] = {
    {"map", RECMAP_ACCESS_MAP, 0, 0},
    {"pread", RECMAP_ACCESS_READ, 0, 0},
    {"4 maps", RECMAP_ACCESS_MAP, 4, 0},
    {"4 files", RECMAP_ACCESS_READ, 4, 0},
    {"direct", RECMAP_ACCESS_DIRECT, 0, 0},
    {"direct, 4 shards", RECMAP_ACCESS_DIRECT, 4, 0},
    {"maps run out", RECMAP_ACCESS_MAP, 0, MAPS},
    {"maps run out, 20 at most", RECMAP_ACCESS_MAP, 20, MAPS},
    {"no maps but the index's", RECMAP_ACCESS_MAP, 0, 1},
};

enum { COMBINATION_COUNT = sizeof combinations / sizeof *combinations };

static const char *run_limits(void *context, size_t number) {
    const struct limits *limits = &combinations[number];
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    (void)context;
    options.access = limits->access;
    options.shard_limit = limits->shard_limit;
    alarm(test_is_long() ? 120 : 60);
    limit_files();
    if (limits->map_count) shorten_maps(limits->map_count + 1);
    const char *wrong = read_everything(&options);
    interpose_stop();
    if (!wrong) return NULL;
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", wrong);
    return case_says("%s: %s", limits->name, kept);
}

static const char *build_with_few_files(void *context, size_t number) {
    (void)context;
    alarm(60);
    limit_files();
    return build_all((unsigned)number + 1);
}

static void test_more_shards_than_files(void **state) {
    (void)state;
    size_t failed = 0;
    assert_int_equal(cases_run("few files, build", 2, 1, build_with_few_files, NULL), 0);
    for (size_t i = 0; i < COMBINATION_COUNT; i++)
        failed += child_run(run_limits, NULL, i) != CHILD_PASSED;
    printf("limits: %d cases, %zu failed\n", COMBINATION_COUNT, failed);
    assert_int_equal(failed, 0);
}

/* Shards that do not fit into the address space together. */
enum { LARGE_SHARDS = 24, LARGE_SIZE = 4 << 20, ROOM = 40 << 20 };

static void write_large(const char *name, uint8_t fill) {
    static uint8_t bytes[LARGE_SIZE];
    memset(bytes, fill, sizeof bytes);
    recmap_frame frame = recmap_frame_of(bytes, sizeof bytes);
    FILE *stream = fopen(name, "wb");
    require(stream && fwrite(frame.header, 1, sizeof frame.header, stream) &&
                fwrite(bytes, 1, sizeof bytes, stream) &&
                fwrite(frame.footer, 1, sizeof frame.footer, stream) && !fclose(stream),
            "write a shard");
}

static size_t address_space_used(void) {
    size_t pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    require(stream && fscanf(stream, "%zu", &pages) == 1 && !fclose(stream), "statm");
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads records of many shards while the address space is limited. The limit is too low to keep all
 * shards mapped. */
static const char *read_large(void *context, size_t number) {
    const char *index = context;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = number ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
    struct rlimit limit = {address_space_used() + ROOM, RLIM_INFINITY};
    require(!setrlimit(RLIMIT_AS, &limit), "setrlimit");
    if (recmap_dataset_open(&dataset, index, &options, &error) != RECMAP_OK)
        return case_says("open: %s", error.message);
    const char *wrong = NULL;
    for (uint64_t i = 0; !wrong && i < 3 * LARGE_SHARDS; i++) {
        recmap_record record;
        uint64_t n = i * 7 % LARGE_SHARDS;
        if (recmap_dataset_get(&record, dataset, n, &error) != RECMAP_OK)
            return case_says("record %d: %s: %s", (int)n, error.path, error.message);
        if (record.size != LARGE_SIZE || record.data[0] != n || record.data[LARGE_SIZE - 1] != n)
            wrong = "wrong bytes";
        recmap_record_release(&record);
    }
    recmap_dataset_close(dataset);
    return wrong;
}

/* Builds an index over 24 shards of 4 MiB, then reads it in two child processes, mapped and
 * unmapped. Each child limits its own address space. */
static void test_little_address_space(void **state) {
    (void)state;
    if (test_is_sanitized()) {
        print_message("skipped: sanitizers need address space themselves\n");
        skip();
    }
    char large[128], name[PATH_LIMIT], index[PATH_LIMIT];
    folder_create(large, sizeof large);
    snprintf(index, sizeof index, "%s/large.rmx", large);
    recmap_index_builder *builder;
    assert_int_equal(recmap_index_builder_create(&builder, index, NULL, NULL), RECMAP_OK);
    for (size_t i = 0; i < LARGE_SHARDS; i++) {
        snprintf(name, sizeof name, "%s/large-%zu", large, i);
        write_large(name, (uint8_t)i);
        assert_int_equal(recmap_index_builder_add_shard(builder, name, NULL), RECMAP_OK);
    }
    recmap_status status = recmap_index_builder_finish(NULL, builder, NULL);
    recmap_index_builder_destroy(builder);
    enum child_end map = child_run(read_large, index, 0), read = child_run(read_large, index, 1);
    folder_remove(large);
    assert_int_equal(status, RECMAP_OK);
    assert_int_equal(map, CHILD_PASSED);
    assert_int_equal(read, CHILD_PASSED);
}

static int enter(void **state) {
    (void)state;
    shard_count = test_is_long() ? 70000 : 1000;
    record_count = shard_count * RECORDS_A_SHARD;
    folder_create(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/many.rmx", folder);
    for (size_t i = 0; i < shard_count; i++) {
        char shard[PATH_LIMIT];
        snprintf(shard, sizeof shard, "%s/s-%zu", folder, i);
        shard_write(shard, i * RECORDS_A_SHARD, RECORDS_A_SHARD);
        if (i % 3 == 1) shard_compress(shard);
    }
    test_seed();
    return 0;
}

static int leave(void **state) {
    (void)state;
    folder_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_shards_than_files),
        cmocka_unit_test(test_little_address_space),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
