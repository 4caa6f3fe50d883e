/* Damaged shards and indexes, read in every way: mapped, with the guard, with pread, with few
 * shards open, with the index in memory, one by one and gathered. All ways must say the same of
 * every record: the same bytes, or the same error. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"

enum { WAYS = 6, FLIPS_MAX = 8 };

static struct fixture data;
static struct file_bytes shards[FIXTURE_SHARDS];
static struct stat stats[FIXTURE_SHARDS];

/* What one way said of one record. */
struct answer {
    recmap_status status;
    uint64_t record, offset;
    char path[16];
    uint64_t sum; /* of its bytes */
};

/* What it said of all: the record, then its id. */
struct answers {
    recmap_status open_status;
    struct answer gets[FIXTURE_RECORDS], gathers[FIXTURE_RECORDS], finds[FIXTURE_RECORDS];
    struct answer labels[FIXTURE_RECORDS]; /* out of the index alone */
};

static uint64_t sum_of(const recmap_record *record) {
    uint64_t sum = record->size;
    for (size_t i = 0; i < record->size; i++) sum = sum * 31 + record->data[i];
    return sum;
}

static struct answer answer_of(recmap_status status, const recmap_error *error) {
    struct answer made = {.status = status};
    if (status == RECMAP_OK) return made;
    made.record = error->record;
    made.offset = error->offset;
    snprintf(made.path, sizeof made.path, "%.15s",
             strrchr(error->path, '/') ? strrchr(error->path, '/') + 1 : error->path);
    return made;
}

/* Records the answer of each kind of query for every record: payload, gathered payload, id and
 * lifted column. Two data sets opened differently are then compared by these answers. */
static void ask_all(struct answers *answers, recmap_dataset *dataset) {
    recmap_batch *batch;
    require(recmap_batch_create(&batch, NULL) == RECMAP_OK, "a batch");
    for (uint64_t number = 0; number < FIXTURE_RECORDS; number++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        char text[32];
        recmap_value id = payload_id(text, number);
        uint64_t found;
        recmap_status status = recmap_dataset_get(&record, dataset, number, &error);
        answers->gets[number] = answer_of(status, &error);
        if (status == RECMAP_OK) {
            answers->gets[number].sum = sum_of(&record);
            recmap_record_release(&record);
        }
        status = recmap_dataset_gather(batch, dataset, &number, 1, &error);
        answers->gathers[number] = answer_of(status, &error);
        if (status == RECMAP_OK) answers->gathers[number].sum = sum_of(recmap_batch_records(batch));
        status = recmap_dataset_find(&found, dataset, &id, &error);
        answers->finds[number] = answer_of(status, &error);
        if (status == RECMAP_OK) answers->finds[number].sum = found;
        int64_t label;
        status = recmap_dataset_read_int64(&label, dataset, 1, number, 1, &error);
        answers->labels[number] = answer_of(status, &error);
        if (status == RECMAP_OK) answers->labels[number].sum = (uint64_t)label;
    }
    recmap_batch_destroy(batch);
}

static void read_in(struct answers *answers, size_t path) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    options.guard = path == 1;
    options.access = path == 2 || path == 5 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
    options.index_in_memory = path == 3 || path == 5;
    options.shard_limit = path >= 4 ? 1 : 0;
    memset(answers, 0, sizeof *answers);
    answers->open_status = recmap_dataset_open(&dataset, data.index, &options, &error);
    if (answers->open_status != RECMAP_OK) return;
    if (recmap_dataset_count(dataset) == FIXTURE_RECORDS) ask_all(answers, dataset);
    else answers->open_status = RECMAP_MISMATCH;
    recmap_dataset_close(dataset);
}

static const char *compare(const struct answer *a, const struct answer *b, const char *call,
                           size_t number, size_t path) {
    if (a->status == b->status && a->sum == b->sum && a->record == b->record &&
        a->offset == b->offset && !strcmp(a->path, b->path))
        return NULL;
    return case_says("%s %zu, way 0 and %zu: %s %s at %lld, %s %s at %lld", call, number, path,
                     recmap_status_name(a->status), a->path, (long long)a->offset,
                     recmap_status_name(b->status), b->path, (long long)b->offset);
}

/* Right bytes, if any; and get and gather agree. */
static const char *check_right(const struct answers *first) {
    for (size_t i = 0; i < FIXTURE_RECORDS; i++) {
        uint8_t bytes[PAYLOAD_MAX];
        recmap_record expected = {bytes, payload_write(bytes, i), i, NULL};
        if (first->gets[i].status == RECMAP_OK && first->gets[i].sum != sum_of(&expected))
            return case_says("record %zu is not what was written", i);
        if (first->labels[i].status == RECMAP_OK && first->labels[i].sum != 3 * i - 7)
            return case_says("the label of record %zu is wrong", i);
        const char *wrong = compare(&first->gets[i], &first->gathers[i], "get and gather", i, 0);
        if (wrong) return wrong;
    }
    return NULL;
}

static const char *compare_ways(void) {
    static struct answers first, other;
    read_in(&first, 0);
    const char *wrong = first.open_status == RECMAP_OK ? check_right(&first) : NULL;
    for (size_t way = 1; !wrong && way < WAYS; way++) {
        read_in(&other, way);
        if (other.open_status != first.open_status)
            return case_says("open, way 0 and %zu: %s, %s", way,
                             recmap_status_name(first.open_status),
                             recmap_status_name(other.open_status));
        for (size_t i = 0; !wrong && i < FIXTURE_RECORDS; i++) {
            wrong = compare(&first.gets[i], &other.gets[i], "get", i, way);
            if (!wrong) wrong = compare(&first.gathers[i], &other.gathers[i], "gather", i, way);
            if (!wrong) wrong = compare(&first.finds[i], &other.finds[i], "find", i, way);
            if (!wrong) wrong = compare(&first.labels[i], &other.labels[i], "label", i, way);
        }
    }
    return wrong;
}

static void restore_shard(size_t i) {
    struct timespec times[2] = {stats[i].st_mtim, stats[i].st_mtim};
    file_bytes_save(data.shards[i], shards[i].bytes, shards[i].size);
    require(!utimensat(0, data.shards[i], times, 0), "set the time");
}

/* Changes some bytes of a file; `keep_time` leaves it its time, so that nothing looks stale. */
static void damage(const char *path, const struct file_bytes *file, const struct stat *keep_time,
                   uint64_t *random) {
    size_t flips = 1 + choose_below(random, FLIPS_MAX);
    uint8_t *bytes = malloc(file->size);
    require(bytes != NULL, "memory");
    memcpy(bytes, file->bytes, file->size);
    for (size_t i = 0; i < flips; i++)
        bytes[choose_below(random, file->size)] ^= (uint8_t)(1u << choose_below(random, 8));
    file_bytes_save(path, bytes, file->size);
    free(bytes);
    if (!keep_time) return;
    struct timespec times[2] = {keep_time->st_mtim, keep_time->st_mtim};
    require(!utimensat(0, path, times, 0), "set the time");
}

static const char *run_case(void *context, size_t number) {
    uint64_t random = test_seed() * 1000003 + number;
    size_t shard = choose_below(&random, FIXTURE_SHARDS);
    (void)context;
    for (size_t i = 0; i < FIXTURE_SHARDS; i++) restore_shard(i);
    fixture_reset(&data);
    unlink(data.index);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    if (number % 3 < 2)
        damage(data.shards[shard], &shards[shard], number % 3 ? NULL : &stats[shard], &random);
    else damage(data.index, &data.new_index, NULL, &random);
    return compare_ways();
}

static void test_ways_agree(void **state) {
    (void)state;
    test_seed();
    assert_int_equal(cases_run("modes",
                               test_is_long()        ? 5000
                               : test_is_sanitized() ? 60
                                                     : 300,
                               1, run_case, NULL),
                     0);
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    for (size_t i = 0; i < FIXTURE_SHARDS; i++)
        require(file_bytes_load(&shards[i], data.shards[i]) && !stat(data.shards[i], &stats[i]),
                "load a shard");
    return 0;
}

static int leave(void **state) {
    (void)state;
    for (size_t i = 0; i < FIXTURE_SHARDS; i++) free(shards[i].bytes);
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways_agree)};
    return cmocka_run_group_tests(tests, enter, leave);
}
