/* Seek points that say anything at all, under hashes and a seal that are right: each bit of their
 * numbers, strange numbers, bits of their windows, values that are lost, moved or doubled. Each
 * record is read correctly or fails with an error that says what is wrong. Nothing crashes, hangs
 * or takes much memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/rounds.h"
#include "support/sanitizers.h"
#include "support/shards/deflate.h"
#include "support/shards/oracle.h"

enum {
    SHARDS = 2,
    SHARD_RECORDS = 1500,
    RECORD_SIZE = 4000,
    FRAME_SIZE = RECORD_SIZE + 16,
    HEAD = 8,
    ENTRY = 24,
    STEP = 97, /* records between those that are read: some of each span */
    SECONDS = 20,
    SECONDS_SANITIZED = 120,
    MEMORY_MAX = 512 << 20, /* above what there is at the start */
};

static struct buffer contents[SHARDS];

static int enter(void **state) {
    static const char *const names[SHARDS] = {"a.gz", "b.zlib"};
    if (folder_enter(state)) return -1;
    struct rng random = {1};
    for (int s = 0; s < SHARDS; s++) {
        struct buffer file = BUFFER_INIT;
        for (int i = 0; i < SHARD_RECORDS; i++) {
            uint8_t text[RECORD_SIZE];
            for (size_t k = 0; k < RECORD_SIZE; k++) text[k] = (uint8_t)rng_below(&random, 40);
            oracle_add_record(&contents[s], text, RECORD_SIZE);
        }
        struct deflate_way way = {.level = 1, .memory = 8};
        add_deflated(&file, s ? COMPRESSION_ZLIB : COMPRESSION_GZIP, &contents[s], &way);
        file_write(names[s], file.data, file.size);
        buffer_deinit(&file);
    }
    index_build("sample.rmx", NULL, names, SHARDS);
    return 0;
}

static int leave(void **state) {
    for (int s = 0; s < SHARDS; s++) buffer_deinit(&contents[s]);
    return folder_leave(state);
}

/* In a child, where cmocka's assertions do not work. */
static void require(bool holds, const char *reason) {
    if (holds) return;
    fprintf(stderr, "%s\n", reason);
    fflush(stderr);
    _exit(1);
}

static bool is_ok(recmap_status status, recmap_error *error) {
    if (status == RECMAP_OK) return true;
    require(error->status == status && error->message[0] && error->path[0], "an error says little");
    require(status != RECMAP_NO_MEMORY, "a forged number takes memory");
    *error = (recmap_error)RECMAP_ERROR_INIT;
    return false;
}

static size_t read_some(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    size_t lost = 0;
    for (size_t i = 0; i < SHARDS * SHARD_RECORDS; i += STEP) {
        if (!is_ok(recmap_dataset_get(&record, dataset, i, &error), &error)) {
            lost++;
            continue;
        }
        const uint8_t *due = contents[i / SHARD_RECORDS].data + i % SHARD_RECORDS * FRAME_SIZE + 12;
        require(record.size == RECORD_SIZE && !memcmp(record.data, due, RECORD_SIZE),
                "a wrong record");
        recmap_record_release(&record);
    }
    return lost;
}

static void merge(void) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    recmap_dataset *dataset;
    require(recmap_index_builder_create(&builder, "out.rmx", NULL, &error) == RECMAP_OK, "builder");
    bool is_built = is_ok(recmap_index_builder_add_index(builder, "forged.rmx", &error), &error) &&
                    is_ok(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    if (!is_built) return;
    require(recmap_dataset_open(&dataset, "out.rmx", NULL, &error) == RECMAP_OK, error.message);
    recmap_dataset_close(dataset);
}

/* 2: refused on opening; 3: all records are there; 4: some are lost. */
static int use(int access, bool verifies) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset;
    recmap_span_info info;
    recmap_report *report;
    options.access = (recmap_access)access;
    merge();
    if (!is_ok(recmap_dataset_open(&dataset, "forged.rmx", &options, &error), &error)) return 2;
    is_ok(recmap_dataset_get_span_info(&info, dataset, &error), &error);
    size_t lost = read_some(dataset);
    if (verifies && is_ok(recmap_dataset_verify(&report, dataset, NULL, &error), &error))
        recmap_report_destroy(report);
    recmap_dataset_close(dataset);
    return lost ? 4 : 3;
}

static void limit_child(void) {
    bool is_sanitized = has_address_sanitizer || has_thread_sanitizer;
    struct rlimit none = {0, 0}, memory = {MEMORY_MAX, MEMORY_MAX};
    setrlimit(RLIMIT_CORE, &none);
    if (!is_sanitized) setrlimit(RLIMIT_DATA, &memory);
    for (int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}, i = 0; i < 6; i++)
        signal(signals[i], SIG_DFL);
    alarm(is_sanitized ? SECONDS_SANITIZED : SECONDS);
}

static size_t outcomes[5];

static void try_forged(const struct forged *index, const char *reason, size_t position) {
    size_t turn = outcomes[2] + outcomes[3] + outcomes[4];
    forged_write(index, "forged.rmx");
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        limit_child();
        _exit(use(turn % 2 ? RECMAP_ACCESS_MAP : RECMAP_ACCESS_READ, turn % 8 == 0));
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    int result = WIFEXITED(ended) ? WEXITSTATUS(ended) : 0;
    if (result < 2 || result > 4) fail_msg("%s %zu: status %#x", reason, position, (unsigned)ended);
    outcomes[result]++;
}

static void test_unchanged_points_give_every_record(void **state) {
    (void)state;
    struct forged index = forged_read("sample.rmx");
    assert_int_equal(index.tables[STORE_POINTS].count, SHARDS);
    for (int s = 0; s < SHARDS; s++) assert_true(index.shards[s].point_count >= 2);
    memset(outcomes, 0, sizeof outcomes);
    try_forged(&index, "unchanged", 0);
    assert_int_equal(outcomes[3], 1);
    forged_deinit(&index);
}

/* Every bit of every number, some of them in a short run. */
static void test_every_flipped_bit_is_harmless(void **state) {
    (void)state;
    struct forged index = forged_read("sample.rmx");
    static const size_t steps[] = {7, 23, 61};
    const size_t step = is_long() ? 1 : steps[short_level()];
    memset(outcomes, 0, sizeof outcomes);
    for (int s = 0; s < SHARDS; s++) {
        uint8_t *value = index.tables[STORE_POINTS].values[s].data;
        size_t bits = 8 * (HEAD + (size_t)index.shards[s].point_count * ENTRY);
        for (size_t bit = (size_t)s; bit < bits; bit += step) {
            value[bit / 8] ^= (uint8_t)(1u << bit % 8);
            try_forged(&index, "bit", bit);
            value[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    assert_true(outcomes[4] > 0 && outcomes[2] + outcomes[3] < outcomes[4]);
    forged_deinit(&index);
}

static void test_strange_numbers_are_harmless(void **state) {
    (void)state;
    static const uint64_t strange[] = {0, 1, UINT64_MAX, (uint64_t)1 << 63, UINT32_MAX, 32769};
    struct forged index = forged_read("sample.rmx");
    uint8_t *value = index.tables[STORE_POINTS].values[0].data;
    for (size_t field = HEAD; field < HEAD + 2 * ENTRY; field += 8)
        for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
            uint64_t was = load64(value + field);
            store64(value + field, strange[i]);
            try_forged(&index, "field", field);
            for (uint64_t near = was - 1; near != was + 3 && !i; near += 2) {
                store64(value + field, near);
                try_forged(&index, "near field", field);
            }
            store64(value + field, was);
        }
    forged_deinit(&index);
}

static void test_forged_windows_are_harmless(void **state) {
    (void)state;
    struct rng random = {3};
    struct forged index = forged_read("sample.rmx");
    for (int s = 0; s < SHARDS; s++) {
        const struct forged_value *value = &index.tables[STORE_POINTS].values[s];
        size_t head = HEAD + (size_t)index.shards[s].point_count * ENTRY;
        for (int i = 0; i < (is_long() ? 500 : 25); i++) {
            size_t at = head + (size_t)rng_below(&random, value->size - head);
            uint8_t was = value->data[at];
            value->data[at] ^= (uint8_t)(1u << rng_below(&random, 8));
            try_forged(&index, "window", at);
            value->data[at] = was;
        }
    }
    forged_deinit(&index);
}

/* What shards say of their points, and values that are not where they belong. */
static void test_forged_counts_are_refused(void **state) {
    (void)state;
    static const uint64_t strange[] = {0, 1, 4096, 4097, UINT64_MAX, (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        struct forged index = forged_read("sample.rmx");
        index.shards[0].point_count = strange[i];
        forged_encode(&index);
        try_forged(&index, "count", i);
        index.shards[0].size = (uint64_t)1 << (i % 2 ? 61 : 33);
        forged_encode(&index);
        try_forged(&index, "count and size", i);
        forged_deinit(&index);
    }
    for (size_t i = 0; i < 4; i++) {
        struct forged index = forged_read("sample.rmx");
        struct forged_table *table = &index.tables[STORE_POINTS];
        struct forged_value first = table->values[0];
        if (i == 0) forged_remove(&index, STORE_POINTS);
        if (i == 1) table->values[1].key.chunk++;
        if (i == 2)
            forged_add(&index, STORE_POINTS, (struct store_key){SHARDS, 0}, first.data, first.size);
        if (i == 3) {
            table->values[0].data = table->values[1].data;
            table->values[0].size = table->values[1].size;
            table->values[1].data = first.data;
            table->values[1].size = first.size;
        }
        try_forged(&index, "values", i);
        forged_deinit(&index);
    }
}

/* The index claims the largest possible image after the last point. Bytes that are not in the file
 * are not returned and take no memory. */
static void test_an_endless_image_takes_no_memory(void **state) {
    (void)state;
    struct forged index = forged_read("sample.rmx");
    memset(outcomes, 0, sizeof outcomes);
    index.shards[SHARDS - 1].size = (uint64_t)1 << 61;
    index.shards[SHARDS - 1].point_count = 0;
    forged_remove(&index, STORE_POINTS);
    forged_encode(&index);
    try_forged(&index, "endless", 0);
    assert_int_equal(outcomes[2] + outcomes[3] + outcomes[4], 1);
    forged_deinit(&index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unchanged_points_give_every_record),
        cmocka_unit_test(test_every_flipped_bit_is_harmless),
        cmocka_unit_test(test_strange_numbers_are_harmless),
        cmocka_unit_test(test_forged_windows_are_harmless),
        cmocka_unit_test(test_forged_counts_are_refused),
        cmocka_unit_test(test_an_endless_image_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
