/* The scan: whatever the bytes, the segments and the threads, what it finds is what a plain reader
 * finds from the first byte to the last. */
#define _GNU_SOURCE
#include "index/scan/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "index/tables/ids.h"
#include "remote_file.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "support/shards/layout.h"
#include "support/shards/oracle.h"

/* What a sink was told, as lines that can be compared byte by byte. */
struct story {
    struct buffer
        records; /* u64 shard, offset, size, check, id hash, number column, crc of bytes column */
    struct buffer damages; /* u64 shard, offset, length */
    struct buffer ends;    /* u64 shard, size */
    uint64_t shard;
    recmap_status status;
    uint64_t error_record, error_offset;
    char error_path[PATH_ROOM];
};

static void story_deinit(struct story *story) {
    buffer_deinit(&story->records);
    buffer_deinit(&story->damages);
    buffer_deinit(&story->ends);
}

static void add_line(struct buffer *out, const uint64_t *numbers, size_t count) {
    buffer_add(out, numbers, count * sizeof *numbers);
}

enum { RECORD_NUMBERS = 7, DAMAGE_NUMBERS = 3 };

/* The rules of the callback below, shared with its checks. */
static bool payload_fails(const uint8_t *data, size_t size) {
    return size > 2 && data[0] == 0xee && data[1] < 0x10;
}

static bool payload_has_id(size_t size) {
    return size % 3 != 0;
}

static bool payload_has_number(size_t size) {
    return size % 5 != 0;
}

static size_t payload_bytes(size_t size) {
    return size < 7 ? size : 7;
}

static recmap_status lift(const recmap_record *record, recmap_value *id, recmap_value *columns,
                          size_t column_count, char *message, size_t message_capacity,
                          void *context) {
    if (*(bool *)context && payload_fails(record->data, record->size)) {
        snprintf(message, message_capacity, "it begins with EE");
        return RECMAP_FEATURE;
    }
    assert_int_equal(column_count, 2);
    if (payload_has_id(record->size)) {
        id->type = RECMAP_TYPE_BYTES;
        id->as.bytes.data = record->data;
        id->as.bytes.size = record->size;
    }
    if (payload_has_number(record->size)) columns[0] = int64_value((int64_t)record->size * 7 - 9);
    columns[1].type = RECMAP_TYPE_BYTES;
    columns[1].as.bytes.data = record->data;
    columns[1].as.bytes.size = payload_bytes(record->size);
    return RECMAP_OK;
}

static uint64_t hash_of(const uint8_t *data, size_t size) {
    recmap_value id = {.type = RECMAP_TYPE_BYTES};
    id.as.bytes.data = data;
    id.as.bytes.size = size;
    return payload_has_id(size) ? id_hash(&id) : IDS_NONE;
}

static recmap_status begin_shard(void *context, const char *path, recmap_error *error) {
    struct story *told = context;
    (void)error;
    told->shard = strtoull(path + 1, NULL, 10);
    return RECMAP_OK;
}

static recmap_status add_run(void *context, const struct record_run *run, recmap_error *error) {
    struct story *told = context;
    (void)error;
    for (size_t i = 0; i < run->count; i++) {
        recmap_value number = run_column_at(run, 0, i), bytes = run_column_at(run, 1, i);
        add_line(&told->records,
                 (uint64_t[]){told->shard, run->offsets[i], run->sizes[i], run->checks[i],
                              run->ids[i],
                              number.type == RECMAP_TYPE_INT64 ? (uint64_t)number.as.int64 : 1,
                              oracle_masked_crc(bytes.as.bytes.data, bytes.as.bytes.size)},
                 RECORD_NUMBERS);
    }
    return RECMAP_OK;
}

static recmap_status add_damage(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error) {
    struct story *told = context;
    (void)error;
    assert_true(reason[0]);
    add_line(&told->damages, (uint64_t[]){told->shard, offset, length}, DAMAGE_NUMBERS);
    return RECMAP_OK;
}

static recmap_status end_shard(void *context, const struct shard_end *end, recmap_error *error) {
    struct story *told = context;
    (void)error;
    add_line(&told->ends, (uint64_t[]){told->shard, end->size}, 2);
    return RECMAP_OK;
}

enum place {
    LOCAL,
    REMOTE,
    REMOTE_FLIPPED, /* the first read of a byte in the middle returns it with a flipped bit */
    PLACES
};

struct setting {
    unsigned threads;
    uint64_t segment_size;
    recmap_on_bad_record on_bad_record;
    bool callback_fails;
    enum place place;
    struct remote_reads reads; /* of remote shards */
};

/* Scans the files with the given threads and segments, and records all that the sink is told, so
 * that two scans can be compared. */
static struct story scan_story(const char *const *paths, size_t count, struct setting *setting) {
    struct story told = {.shard = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    struct extractor *lifting;
    recmap_lift lifts[] = {{"number", "1", 0}, {"bytes", NULL, 0}};
    recmap_index_options extraction = RECMAP_INDEX_OPTIONS_INIT;
    extraction.id_feature = "id";
    extraction.lifts = lifts;
    extraction.lift_count = 2;
    extraction.lift = lift;
    extraction.lift_context = &setting->callback_fails;
    ASSERT_OK(extractor_create(&lifting, &extraction, &error), &error);
    struct scan_sink sink = {&told, begin_shard, add_run, add_damage, end_shard, NULL};
    recmap_progress totals = {0};
    struct scan_options options = {
        .thread_count = setting->threads,
        .on_bad_record = setting->on_bad_record,
        .extractor = lifting,
        .segment_size = setting->segment_size,
        .open = setting->place == LOCAL ? NULL : remote_file_open,
        .open_context = &setting->reads,
        .totals = &totals,
    };
    told.status = scan_shards(paths, count, &sink, &options, &error);
    told.error_record = error.record;
    told.error_offset = error.offset;
    snprintf(told.error_path, sizeof told.error_path, "%.1000s", error.path);
    if (told.status == RECMAP_OK)
        assert_int_equal(totals.record_count * RECORD_NUMBERS * 8, told.records.size);
    extractor_destroy(lifting);
    return told;
}

static void fail_expected(struct story *story, recmap_status status, size_t shard,
                          uint64_t offset) {
    story->status = status;
    story->error_record = story->records.size / 8 / RECORD_NUMBERS;
    story->error_offset = offset;
    snprintf(story->error_path, sizeof story->error_path, "%s", shard_names(shard + 1)[shard]);
}

/* What the plain reader says of one shard. */
static void expect_shard(struct story *story, const struct buffer *bytes, size_t shard,
                         const struct setting *setting) {
    struct oracle_file file =
        oracle_read(bytes->data, bytes->size, setting->on_bad_record == RECMAP_ON_BAD_RECORD_ERROR);
    uint64_t failed_at = UINT64_MAX;
    for (size_t i = 0; i < file.record_count && failed_at == UINT64_MAX; i++) {
        const struct oracle_record *record = &file.records[i];
        const uint8_t *data = bytes->data + record->offset + 12;
        size_t size = (size_t)record->size;
        if (setting->callback_fails && payload_fails(data, size)) {
            failed_at = record->offset;
            fail_expected(story, RECMAP_FEATURE, shard, failed_at);
            break;
        }
        add_line(&story->records,
                 (uint64_t[]){shard, record->offset, size, record->check, hash_of(data, size),
                              payload_has_number(size) ? size * 7 - 9 : 1,
                              oracle_masked_crc(data, payload_bytes(size))},
                 RECORD_NUMBERS);
    }
    for (size_t i = 0; i < file.damage_count && file.damages[i].offset < failed_at; i++) {
        const struct oracle_damage *damage = &file.damages[i];
        if (damage->length)
            add_line(&story->damages, (uint64_t[]){shard, damage->offset, damage->length},
                     DAMAGE_NUMBERS);
        else fail_expected(story, RECMAP_CORRUPT, shard, damage->offset);
    }
    if (story->status == RECMAP_OK) add_line(&story->ends, (uint64_t[]){shard, bytes->size}, 2);
    oracle_deinit(&file);
}

static struct story expect(const struct buffer *shards, size_t count,
                           const struct setting *setting) {
    struct story told = {.error_record = RECMAP_NO_RECORD, .error_offset = RECMAP_NO_OFFSET};
    for (size_t i = 0; i < count && told.status == RECMAP_OK; i++)
        expect_shard(&told, &shards[i], i, setting);
    return told;
}

static bool same_bytes(const struct buffer *a, const struct buffer *b) {
    return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* Errors are compared but for files that are recognised as something else, which name no record.
 * Damage before an error is delivered or not: nothing is built then. */
static bool same_story(const struct story *actual, const struct story *due) {
    if (actual->status != due->status || !same_bytes(&actual->records, &due->records) ||
        !same_bytes(&actual->ends, &due->ends))
        return false;
    if (actual->status == RECMAP_OK) return same_bytes(&actual->damages, &due->damages);
    bool is_recognised = actual->error_record == RECMAP_NO_RECORD && actual->error_offset == 0;
    return actual->error_offset == due->error_offset &&
           (is_recognised || actual->error_record == due->error_record) &&
           !strcmp(actual->error_path, due->error_path);
}

/* Every byte of a shard is in a record or in damage, and in one of them only. */
static void assert_covered(const struct story *story, const struct buffer *shards, size_t count) {
    const uint64_t *records = (const void *)story->records.data;
    const uint64_t *damages = (const void *)story->damages.data;
    size_t r = 0, d = 0;
    size_t record_end = story->records.size / 8, damage_end = story->damages.size / 8;
    for (size_t i = 0; i < count; i++) {
        for (uint64_t at = 0; at < shards[i].size;) {
            if (r < record_end && records[r] == i && records[r + 1] == at) {
                at += records[r + 2] + 16;
                r += RECORD_NUMBERS;
            } else {
                assert_true(d < damage_end && damages[d] == i && damages[d + 1] == at);
                assert_true(damages[d + 2] > 0);
                at += damages[d + 2];
                d += DAMAGE_NUMBERS;
            }
            assert_true(at <= shards[i].size);
        }
    }
    assert_true(r == record_end && d == damage_end);
}

/* Keeps what a failing case needs to be looked at. */
static void report(const struct story *actual, const struct story *due,
                   const struct setting *setting, uint64_t seed) {
    print_error(
        "seed %llu, %u threads, place %d, segments of %llu, mode %d: %s, %zu records, %zu damages, "
        "error at %llu/%llu; due %s, %zu records, %zu damages, error at %llu/%llu\n",
        (unsigned long long)seed, setting->threads, (int)setting->place,
        (unsigned long long)setting->segment_size, setting->on_bad_record,
        recmap_status_name(actual->status), actual->records.size / 56, actual->damages.size / 24,
        (unsigned long long)actual->error_record, (unsigned long long)actual->error_offset,
        recmap_status_name(due->status), due->records.size / 56, due->damages.size / 24,
        (unsigned long long)due->error_record, (unsigned long long)due->error_offset);
}

static void check_setting(const struct buffer *shards, size_t count, struct setting *setting,
                          uint64_t seed) {
    struct story due = expect(shards, count, setting);
    bool is_damaged = due.damages.size || due.status == RECMAP_CORRUPT;
    /* Copies of damaged shards are written to the disk, so not every seed makes them. */
    enum place places = seed % 4 ? REMOTE : PLACES;
    for (setting->place = LOCAL; setting->place < places; setting->place++) {
        /* A damaged shard is copied, and bytes that change then are not read again. */
        if (setting->place == REMOTE_FLIPPED && is_damaged) continue;
        setting->reads = (struct remote_reads){.flips = setting->place == REMOTE_FLIPPED};
        struct story found = scan_story(shard_names(count), count, setting);
        bool is_same = same_story(&found, &due);
        if (!is_same) report(&found, &due, setting, seed);
        assert_true(is_same);
        if (found.status == RECMAP_OK) assert_covered(&found, shards, count);
        story_deinit(&found);
    }
    setting->place = LOCAL;
    story_deinit(&due);
}

enum { SHARDS_MAX = 4 };

static void check_layout(uint64_t seed, size_t size_max) {
    struct rng random = {seed};
    size_t count = 1 + (size_t)rng_below(&random, rng_one_in(&random, 3) ? SHARDS_MAX : 1);
    struct buffer shards[SHARDS_MAX] = {BUFFER_INIT};
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)rng_below(&random, rng_one_in(&random, 4) ? 100 : size_max);
        layout_generate(&shards[i], size, &random);
        file_write(shard_names(count)[i], shards[i].data, shards[i].size);
    }
    bool callback_fails = rng_one_in(&random, 8);
    for (int mode = 0; mode < 2; mode++)
        for (int round = 0; round < 3; round++) {
            struct setting how = {round ? 1 + (unsigned)rng_below(&random, 8) : 1,
                                  16 + rng_skewed(&random, 12),
                                  (recmap_on_bad_record)mode,
                                  callback_fails,
                                  LOCAL,
                                  {0}};
            check_setting(shards, count, &how, seed);
        }
    for (size_t i = 0; i < count; i++) buffer_deinit(&shards[i]);
}

static void test_scan_equals_plain_reader(void **state) {
    (void)state;
    uint64_t rounds = is_long() ? 40000 : some_rounds(1500);
    for (uint64_t seed = 1; seed <= rounds; seed++) check_layout(seed, 6000);
}

/* Larger files in larger segments, so that more threads work at the same time. */
static void test_scan_of_larger_files(void **state) {
    (void)state;
    uint64_t rounds = is_long() ? 400 : some_rounds(12);
    for (uint64_t seed = 1; seed <= rounds; seed++) check_layout(1000000 + seed, 150000);
}

/* Damage full of headers that hold and claim long payloads, which overlap: the same bytes are asked
 * for over and over, from places that go back when a guess is thrown away. */
static void make_long_claims(struct buffer *file, size_t size, struct rng *random) {
    struct buffer payload = BUFFER_INIT;
    while (file->size < size) {
        switch (rng_below(random, 5)) {
        case 0: oracle_add_header(file, 16000 + rng_below(random, size)); break;
        case 1: buffer_add_random(file, (size_t)rng_below(random, 3000), random); break;
        case 2:
            payload.size = 0;
            layout_add_records(&payload, (size_t)rng_below(random, 40000), random);
            oracle_add_record(file, payload.data, payload.size);
            if (rng_one_in(random, 2)) file->data[file->size - 5] ^= 1;
            break;
        default: layout_add_records(file, (size_t)rng_below(random, 2000), random);
        }
    }
    buffer_deinit(&payload);
}

static void test_false_claims_of_long_records_are_rejected(void **state) {
    (void)state;
    uint64_t rounds = is_long() ? 400 : some_rounds(12);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct rng random = {3000000 + seed};
        struct buffer shards[2] = {BUFFER_INIT};
        for (size_t i = 0; i < 2; i++) {
            make_long_claims(&shards[i], 100000 + (size_t)rng_below(&random, 200000), &random);
            file_write(shard_names(2)[i], shards[i].data, shards[i].size);
        }
        for (int round = 0; round < 4; round++) {
            struct setting how = {1 + (unsigned)round,
                                  500 + rng_below(&random, round ? 40000 : 500000),
                                  RECMAP_ON_BAD_RECORD_SKIP,
                                  false,
                                  LOCAL,
                                  {0}};
            check_setting(shards, 2, &how, seed);
        }
        for (size_t i = 0; i < 2; i++) buffer_deinit(&shards[i]);
    }
}

/* One record that spans all segments, whose payload holds a whole TFRecord stream. */
static void test_record_over_all_segments(void **state) {
    (void)state;
    struct rng random = {5};
    struct buffer stream = BUFFER_INIT, shard = BUFFER_INIT;
    layout_add_records(&stream, 20000, &random);
    oracle_add_record(&shard, "first", 5);
    oracle_add_record(&shard, stream.data, stream.size);
    oracle_add_record(&shard, "last", 4);
    file_write("s00000", shard.data, shard.size);
    for (uint64_t segment = 16; segment < 40000; segment = segment * 3 / 2) {
        struct setting how = {4, segment, RECMAP_ON_BAD_RECORD_ERROR, false, LOCAL, {0}};
        check_setting(&shard, 1, &how, segment);
        struct story told = scan_story(shard_names(1), 1, &how);
        assert_int_equal(told.records.size / 8 / RECORD_NUMBERS, 3);
        story_deinit(&told);
    }
    buffer_deinit(&stream);
    buffer_deinit(&shard);
}

/* Every place of damage in a small file, with every way to cut it into segments. */
static void test_every_flipped_byte(void **state) {
    (void)state;
    static const char *const payloads[] = {"", "a", "bcdefgh", "", "0123456789abcdef"};
    struct buffer shard = BUFFER_INIT;
    for (size_t i = 0; i < 5; i++) oracle_add_record(&shard, payloads[i], strlen(payloads[i]));
    for (size_t at = 0; at < shard.size; at++) {
        shard.data[at] ^= 0x10;
        file_write("s00000", shard.data, shard.size);
        for (int mode = 0; mode < 2; mode++) {
            struct setting how = {3, 16 + at % 32, (recmap_on_bad_record)mode, false, LOCAL, {0}};
            check_setting(&shard, 1, &how, at);
        }
        shard.data[at] ^= 0x10;
    }
    buffer_deinit(&shard);
}

/* The sink's own errors end the scan and keep their place. */
static recmap_status add_run_without_space(void *context, const struct record_run *run,
                                           recmap_error *error) {
    (void)context;
    (void)run;
    error->status = RECMAP_IO;
    error->offset = 77;
    snprintf(error->path, sizeof error->path, "the.rmx");
    return RECMAP_IO;
}

static void test_error_of_sink(void **state) {
    (void)state;
    struct buffer shard = BUFFER_INIT;
    oracle_add_record(&shard, "x", 1);
    file_write("s00000", shard.data, shard.size);
    struct story told = {.shard = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    struct extractor *nothing;
    ASSERT_OK(extractor_create(&nothing, NULL, &error), &error);
    struct scan_sink sink = {&told,      begin_shard, add_run_without_space,
                             add_damage, end_shard,   NULL};
    recmap_progress totals = {0};
    struct scan_options options = {.extractor = nothing, .totals = &totals};
    assert_int_equal(scan_shards(shard_names(1), 1, &sink, &options, &error), RECMAP_IO);
    assert_string_equal(error.path, "the.rmx");
    assert_int_equal(error.offset, 77);
    extractor_destroy(nothing);
    buffer_deinit(&shard);
}

static recmap_status skip_shard(void *context, const recmap_error *cause, recmap_error *error) {
    (void)error;
    assert_int_equal(cause->status, RECMAP_IO);
    ++*(int *)context;
    return RECMAP_OK;
}

static recmap_status begin_any(void *context, const char *path, recmap_error *error) {
    (void)context;
    (void)path;
    (void)error;
    return RECMAP_OK;
}

static recmap_status ignore_run(void *context, const struct record_run *run, recmap_error *error) {
    (void)context;
    (void)run;
    (void)error;
    return RECMAP_OK;
}

static recmap_status ignore_end(void *context, const struct shard_end *end, recmap_error *error) {
    (void)context;
    (void)end;
    (void)error;
    return RECMAP_OK;
}

/* Shards that cannot be opened are passed over where the sink can take it. */
static void test_missing_shards_are_skipped(void **state) {
    (void)state;
    struct buffer shard = BUFFER_INIT;
    oracle_add_record(&shard, "x", 1);
    file_write("there", shard.data, shard.size);
    const char *paths[] = {"missing", "there", "gone", ".", "there"};
    for (unsigned threads = 1; threads <= 4; threads++) {
        int skipped = 0;
        recmap_error error = RECMAP_ERROR_INIT;
        struct extractor *nothing;
        ASSERT_OK(extractor_create(&nothing, NULL, &error), &error);
        struct scan_sink sink = {&skipped, begin_any, ignore_run, NULL, ignore_end, skip_shard};
        recmap_progress totals = {0};
        struct scan_options options = {
            .thread_count = threads, .extractor = nothing, .totals = &totals};
        ASSERT_OK(scan_shards(paths, 5, &sink, &options, &error), &error);
        assert_int_equal(skipped, 3);
        assert_int_equal(totals.record_count, 2);
        sink.skip_shard = NULL;
        assert_int_equal(scan_shards(paths, 5, &sink, &options, &error), RECMAP_IO);
        assert_string_equal(error.path, "missing");
        extractor_destroy(nothing);
    }
    buffer_deinit(&shard);
}

static int cancel(const recmap_progress *progress, void *context) {
    (void)progress;
    ++*(int *)context;
    return 1;
}

/* Cancelling ends the scan at once, also while it waits at a shard that is skipped. */
static void test_cancelling_ends_the_scan_at_once(void **state) {
    (void)state;
    struct buffer shard = BUFFER_INIT;
    oracle_add_record(&shard, "x", 1);
    file_write("there", shard.data, shard.size);
    const char *paths[] = {"missing", "there", "gone"};
    for (unsigned round = 0; round < 200; round++) {
        size_t first = round % 3;
        int skipped = 0, asked = 0;
        recmap_error error = RECMAP_ERROR_INIT;
        struct extractor *nothing;
        ASSERT_OK(extractor_create(&nothing, NULL, &error), &error);
        struct scan_sink sink = {&skipped, begin_any, ignore_run, NULL, ignore_end, skip_shard};
        recmap_progress totals = {0};
        struct scan_options options = {.thread_count = 1 + round % 4,
                                       .extractor = nothing,
                                       .totals = &totals,
                                       .progress = cancel,
                                       .progress_context = &asked};
        assert_int_equal(scan_shards(paths + first, 3 - first, &sink, &options, &error),
                         RECMAP_CANCELLED);
        assert_int_equal(asked, 1);
        extractor_destroy(nothing);
    }
    buffer_deinit(&shard);
}

int main(void) {
    /* Copies of damaged shards: in memory, like the folders of tests. */
    setenv("TMPDIR", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", 0);
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(scan_equals_plain_reader),
        TEST(scan_of_larger_files),
        TEST(false_claims_of_long_records_are_rejected),
        TEST(record_over_all_segments),
        TEST(every_flipped_byte),
        TEST(error_of_sink),
        TEST(missing_shards_are_skipped),
        TEST(cancelling_ends_the_scan_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
