/* Compressed shards at random: every record comes as it lies in what zlib would inflate, in any
 * order, from points that cost little; and damage costs what it hits, no more. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>
#include <zlib.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "support/shards/deflate.h"
#include "support/shards/oracle.h"

enum { MB = 1 << 20 };

/* A shard as it is before it is compressed, and the file. */
struct packed_shard {
    struct buffer content, file;
    struct oracle_file due;
};

/* Frames of text, noise and runs, made once: shards are drawn from them. */
enum { POOL = 200 };
static struct buffer pool[POOL];

static int make_pool(void **state) {
    (void)state;
    struct rng random = {2};
    for (size_t i = 0; i < POOL; i++) {
        size_t size = rng_below(&random, 30000);
        struct buffer payload = BUFFER_INIT;
        if (i % 3 == 0) buffer_add_random(&payload, size, &random);
        while (payload.size < size)
            buffer_add_byte(&payload, (uint8_t)(i % 3 == 1 ? ' ' + rng_below(&random, 9) : i));
        oracle_add_record(&pool[i], payload.data, payload.size);
        buffer_deinit(&payload);
    }
    return 0;
}

static int free_pool(void **state) {
    (void)state;
    for (size_t i = 0; i < POOL; i++) buffer_deinit(&pool[i]);
    return 0;
}

static void add_record(struct packed_shard *shard, struct rng *random) {
    const struct buffer *drawn = &pool[rng_below(random, POOL)];
    size_t count = shard->due.record_count++;
    shard->due.records = must_realloc(shard->due.records, (count + 1) * sizeof *shard->due.records);
    shard->due.records[count] = (struct oracle_record){shard->content.size, drawn->size - 16, 0};
    buffer_add(&shard->content, drawn->data, drawn->size);
}

static struct packed_shard make_shard(const char *path, enum compression kind, size_t size,
                                      size_t members, struct rng *random) {
    struct packed_shard made = {BUFFER_INIT, BUFFER_INIT, {0}};
    while (made.content.size < size) add_record(&made, random);
    struct deflate_way way = {.level = 1 + (int)rng_below(random, 6), .memory = 8};
    for (size_t m = 0, done = 0; m < members; m++) {
        size_t end = m + 1 == members ? made.content.size : made.content.size / members * (m + 1);
        struct buffer part = {made.content.data + done, end - done, 0};
        add_deflated(&made.file, kind, &part, &way);
        done = end;
    }
    file_write(path, made.file.data, made.file.size);
    return made;
}

static void free_shard(struct packed_shard *shard) {
    buffer_deinit(&shard->content);
    buffer_deinit(&shard->file);
    oracle_deinit(&shard->due);
}

static void assert_record(const recmap_record *record, const struct packed_shard *shard, size_t i) {
    assert_int_equal(record->size, shard->due.records[i].size);
    assert_memory_equal(record->data, shard->content.data + shard->due.records[i].offset + 12,
                        record->size);
}

static void read_in_random_order(const struct packed_shard *shard, recmap_access access,
                                 struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = access;
    recmap_dataset *dataset = dataset_open("a.rmx", &options);
    size_t count = (size_t)recmap_dataset_count(dataset);
    assert_int_equal(count, shard->due.record_count);
    for (size_t i = 0; i < count; i++) {
        recmap_record record;
        size_t number = (size_t)rng_below(random, count);
        ASSERT_OK(recmap_dataset_get(&record, dataset, number, &error), &error);
        assert_record(&record, shard, number);
        recmap_record_release(&record);
    }
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    uint64_t numbers[100];
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 100; i++) numbers[i] = rng_below(random, count);
        ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, 100, &error), &error);
        for (size_t i = 0; i < 100; i++)
            assert_record(&recmap_batch_records(batch)[i], shard, (size_t)numbers[i]);
    }
    recmap_batch_destroy(batch);
    recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
    assert_int_equal(spans.evict_count, 0);
    assert_int_equal(spans.inflated_size, shard->content.size);
    /* No record costs more than some MiB. */
    assert_true(spans.inflated_size / spans.inflate_count <= 5 * MB);
    assert_true(shard->content.size < 10 * MB || spans.inflate_count > 2);
    recmap_dataset_close(dataset);
}

/* Compressed shards of all sizes, from empty to several spans, in one and in many members. Every
 * record is read in random order and compared. */
static void test_records_are_read_in_random_order(void **state) {
    (void)state;
    struct rng random = {3};
    const char *name = "a.tfrecord.gz";
    for (int round = 0; round < 8; round++) {
        enum compression kind = round % 2 ? COMPRESSION_GZIP : COMPRESSION_ZLIB;
        static const size_t sizes[] = {0, 100, 3 * MB, 16 * MB};
        static const size_t members[] = {1, 3, 40};
        struct packed_shard shard =
            make_shard(name, kind, sizes[round % 4], members[round % 3], &random);
        recmap_index_summary summary = index_build("a.rmx", NULL, &name, 1);
        assert_int_equal(summary.record_count, shard.due.record_count);
        if (shard.due.record_count) {
            struct buffer index = file_read("a.rmx");
            assert_true(index.size < 100000 + shard.file.size / 50);
            buffer_deinit(&index);
            read_in_random_order(&shard, RECMAP_ACCESS_MAP, &random);
            read_in_random_order(&shard, RECMAP_ACCESS_READ, &random);
        }
        free_shard(&shard);
    }
}

/* An index that was appended to or merged equals one that was built at once, including its
 * points. */
static void test_parts_make_the_whole(void **state) {
    (void)state;
    struct rng random = {4};
    const char *names[] = {"a.gz", "b.gz"};
    recmap_error error = RECMAP_ERROR_INIT;
    for (int i = 0; i < 2; i++) {
        struct packed_shard shard = make_shard(names[i], COMPRESSION_GZIP, 12 * MB, 2, &random);
        free_shard(&shard);
    }
    index_build("whole.rmx", NULL, names, 2);
    index_build("a.rmx", NULL, &names[0], 1);
    index_build("b.rmx", NULL, &names[1], 1);
    recmap_index_builder *builder;
    ASSERT_OK(recmap_index_builder_create(&builder, "merged.rmx", NULL, &error), &error);
    ASSERT_OK(recmap_index_builder_add_index(builder, "a.rmx", &error), &error);
    ASSERT_OK(recmap_index_builder_add_index(builder, "b.rmx", &error), &error);
    ASSERT_OK(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    assert_same_file("whole.rmx", "merged.rmx");
    for (unsigned threads = 1; threads < 4; threads++) {
        recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
        options.thread_count = threads;
        index_build("again.rmx", &options, names, 2);
        assert_same_file("whole.rmx", "again.rmx");
    }
}

/* Damage after indexing: only records of the span that is hit are lost, and verify names them. */
static void test_damage_when_read(void **state) {
    (void)state;
    struct rng random = {5};
    const char *name = "a.gz";
    recmap_error error = RECMAP_ERROR_INIT;
    struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, 20 * MB, 1, &random);
    index_build("a.rmx", NULL, &name, 1);
    uint8_t junk[64];
    memset(junk, 0xff, sizeof junk);
    file_alter(name, shard.file.size / 2, junk, sizeof junk);
    recmap_dataset *dataset = dataset_open("a.rmx", NULL);
    uint64_t count = recmap_dataset_count(dataset), lost = 0, first_lost = 0, last_lost = 0;
    for (uint64_t i = 0; i < count; i++) {
        recmap_record record;
        if (recmap_dataset_get(&record, dataset, i, &error) == RECMAP_OK) {
            assert_record(&record, &shard, (size_t)i);
            recmap_record_release(&record);
            continue;
        }
        assert_int_equal(error.status, RECMAP_CORRUPT);
        assert_string_equal(error.path, name);
        assert_int_equal(error.record, i);
        assert_non_null(strstr(error.advice, "still reads the rest"));
        if (!lost++) first_lost = i;
        last_lost = i;
    }
    assert_true(lost > 0 && lost < count / 4 && last_lost - first_lost + 1 == lost);
    recmap_report *report;
    ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
    assert_true(recmap_report_damage_count(report) > 0);
    assert_int_equal(recmap_report_record_count(report), count - lost);
    assert_int_equal(recmap_report_damage(report, 0).record, first_lost);
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
    free_shard(&shard);
}

/* Sets is_lost[i] for each lost record i, unless `is_lost` is NULL. */
static uint64_t count_lost(bool *is_lost, recmap_dataset *dataset) {
    uint64_t lost = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < recmap_dataset_count(dataset); i++) {
        recmap_record record;
        if (recmap_dataset_get(&record, dataset, i, &error) == RECMAP_OK) {
            recmap_record_release(&record);
            continue;
        }
        /* What a loader can leave out. */
        assert_int_equal(error.status, RECMAP_CORRUPT);
        lost++;
        if (is_lost) is_lost[i] = true;
    }
    return lost;
}

/* Every lost record is touched by a stretch of the list, which is in order. */
static void assert_listed(const recmap_report *report, const struct packed_shard *shard,
                          const bool *is_lost) {
    size_t count = recmap_report_damage_count(report), next = 0;
    for (size_t i = 1; i < count; i++)
        assert_true(recmap_report_damage(report, i - 1).offset <=
                    recmap_report_damage(report, i).offset);
    for (size_t i = 0; i < shard->due.record_count; i++) {
        uint64_t offset = shard->due.records[i].offset, end = offset + shard->due.records[i].size;
        recmap_damage damage = {0};
        for (; is_lost[i] && next < count; next++) {
            damage = recmap_report_damage(report, next);
            if (damage.size && damage.offset + damage.size > offset) break;
        }
        if (is_lost[i]) assert_true(next < count && damage.offset < end + 16);
    }
}

/* Whatever damage makes of a stream, which may inflate on to other bytes without a fault, verify
 * counts as good what can be read, no less and no more, and lists where the rest was. */
static void test_verify_counts_what_can_be_read(void **state) {
    (void)state;
    struct rng random = {15};
    const char *name = "a.gz";
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t lost_in_all = 0;
    for (unsigned round = 0; round < (is_short() ? 8 : 16); round++) {
        enum compression kind = round % 4 == 3 ? COMPRESSION_ZLIB : COMPRESSION_GZIP;
        struct packed_shard shard =
            make_shard(name, kind, 10 * MB, round % 4 == 1 ? 7 : 1, &random);
        index_build("a.rmx", NULL, &name, 1);
        uint8_t junk[64];
        memset(junk, round % 2 ? 0xff : (int)rng_below(&random, 256), sizeof junk);
        /* With damage at 0, not even the kind of compression is known. */
        uint64_t at = round % 8 == 5 ? 0 : rng_below(&random, shard.file.size - sizeof junk);
        file_alter(name, at, junk, round % 3 ? sizeof junk : 1 + rng_below(&random, 3));
        recmap_dataset *dataset = dataset_open("a.rmx", NULL);
        bool *is_lost = must_realloc(NULL, shard.due.record_count);
        memset(is_lost, 0, shard.due.record_count);
        uint64_t lost = count_lost(is_lost, dataset);
        lost_in_all += lost;
        for (unsigned threads = 1; threads < 4; threads += 2) {
            recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
            options.thread_count = threads;
            recmap_report *report;
            ASSERT_OK(recmap_dataset_verify(&report, dataset, &options, &error), &error);
            assert_int_equal(recmap_report_record_count(report), shard.due.record_count - lost);
            assert_listed(report, &shard, is_lost);
            recmap_report_destroy(report);
        }
        free(is_lost);
        recmap_dataset_close(dataset);
        free_shard(&shard);
    }
    assert_true(lost_in_all > 0);
}

/* Zeros where the last member was are nothing: the stream ends well, but sooner. The records of the
 * span are lost and listed, also beside a wrong checksum. */
static void test_last_member_zeroed(void **state) {
    (void)state;
    struct rng random = {16};
    const char *name = "a.gz";
    struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, MB / 4, 1, &random);
    size_t begin = shard.content.size, member = shard.file.size;
    while (shard.content.size < begin + MB / 4) add_record(&shard, &random);
    struct deflate_way way = {.level = 6, .memory = 8};
    struct buffer part = {shard.content.data + begin, shard.content.size - begin, 0};
    add_deflated(&shard.file, COMPRESSION_GZIP, &part, &way);
    file_write(name, shard.file.data, shard.file.size);
    index_build("a.rmx", NULL, &name, 1);
    memset(shard.file.data + member, 0, shard.file.size - member);
    shard.file.data[member - 8] ^= 1;
    file_alter(name, 0, shard.file.data, shard.file.size);
    recmap_dataset *dataset = dataset_open("a.rmx", NULL);
    bool *is_lost = must_realloc(NULL, shard.due.record_count);
    memset(is_lost, 0, shard.due.record_count);
    assert_int_equal(count_lost(is_lost, dataset), shard.due.record_count);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report;
    ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
    assert_int_equal(recmap_report_record_count(report), 0);
    assert_int_equal(recmap_report_damage_count(report), 1);
    assert_listed(report, &shard, is_lost);
    recmap_report_destroy(report);
    free(is_lost);
    recmap_dataset_close(dataset);
    free_shard(&shard);
}

/* A file of the same size and time whose stream is whole, checksum and all, but has other frames:
 * the shard changed. */
static void test_another_stream_of_the_same_size(void **state) {
    (void)state;
    static const uint8_t zeros[120];
    struct deflate_way stored = {.level = 0, .memory = 8};
    const char *name = "a.gz";
    struct buffer files[2] = {BUFFER_INIT, BUFFER_INIT};
    for (int swapped = 0; swapped < 2; swapped++) {
        struct buffer content = BUFFER_INIT;
        for (int i = 0; i < 40; i++)
            oracle_add_record(&content, zeros, (i ^ swapped) % 2 ? 120 : 100);
        add_deflated(&files[swapped], COMPRESSION_GZIP, &content, &stored);
        buffer_deinit(&content);
    }
    assert_int_equal(files[0].size, files[1].size);
    file_write(name, files[0].data, files[0].size);
    index_build("a.rmx", NULL, &name, 1);
    file_alter(name, 0, files[1].data, files[1].size);
    recmap_dataset *dataset = dataset_open("a.rmx", NULL);
    recmap_record record;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_get(&record, dataset, 0, &error), RECMAP_STALE);
    assert_non_null(strstr(error.advice, "build the index again"));
    recmap_dataset_close(dataset);
    for (int i = 0; i < 2; i++) buffer_deinit(&files[i]);
}

/* Damage before indexing: records before the damage and in members after it are numbered. */
static void test_damage_when_indexed(void **state) {
    (void)state;
    struct rng random = {6};
    const char *name = "a.gz";
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options skips = RECMAP_INDEX_OPTIONS_INIT;
    skips.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    for (int round = 0; round < 6; round += is_short() ? 2 : 1) {
        struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, 12 * MB, 4, &random);
        uint64_t at = shard.file.size / 8 * (uint64_t)(1 + round);
        uint8_t junk[64];
        memset(junk, 0xff, sizeof junk);
        file_alter(name, at, junk, sizeof junk);
        assert_int_equal(index_try("a.rmx", NULL, &name, 1, &error), RECMAP_CORRUPT);
        assert_true(error.offset != RECMAP_NO_OFFSET && error.offset + 100000 > at);
        index_build("a.rmx", &skips, &name, 1);
        recmap_dataset *dataset = dataset_open("a.rmx", NULL);
        const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
        assert_true(info->damage_count > 0);
        assert_true(info->record_count > shard.due.record_count / 2);
        assert_true(info->record_count < shard.due.record_count);
        size_t due = 0;
        for (uint64_t i = 0; i < info->record_count; i++, due++) {
            recmap_record record;
            ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
            /* Some are left out; those that are there come in order. */
            while (due < shard.due.record_count &&
                   (record.size != shard.due.records[due].size ||
                    memcmp(record.data, shard.content.data + shard.due.records[due].offset + 12,
                           record.size)))
                due++;
            assert_true(due < shard.due.record_count);
            recmap_record_release(&record);
        }
        recmap_report *report;
        ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
        assert_int_equal(recmap_report_damage_count(report), 0);
        assert_int_equal(recmap_report_record_count(report), info->record_count);
        recmap_report_destroy(report);
        recmap_dataset_close(dataset);
        free_shard(&shard);
    }
}

/* A checksum that does not hold over records whose own do: an error, or listed, and none is lost.
 */
static void test_a_wrong_stream_checksum_loses_no_record(void **state) {
    (void)state;
    struct rng random = {16};
    const char *name = "a.gz";
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options skips = RECMAP_INDEX_OPTIONS_INIT;
    skips.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    for (size_t members = 1; members < 4; members += 2) {
        struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, 3 * MB, members, &random);
        shard.file.data[shard.file.size - 8] ^= 1;
        file_write(name, shard.file.data, shard.file.size);
        assert_int_equal(index_try("a.rmx", NULL, &name, 1, &error), RECMAP_CORRUPT);
        assert_int_equal(error.offset, shard.file.size - 8);
        index_build("a.rmx", &skips, &name, 1);
        recmap_dataset *dataset = dataset_open("a.rmx", NULL);
        const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
        assert_int_equal(info->record_count, shard.due.record_count);
        assert_int_equal(info->damage_count, 1);
        assert_int_equal(info->damaged_byte_count, 0);
        recmap_damage damage;
        ASSERT_OK(recmap_dataset_get_damage(&damage, dataset, 0, &error), &error);
        assert_int_equal(damage.offset, shard.content.size);
        assert_int_equal(damage.size, 0);
        char place[64];
        snprintf(place, sizeof place, "(byte %zu of the file)", shard.file.size - 8);
        assert_non_null(strstr(damage.reason, place));
        assert_int_equal(count_lost(NULL, dataset), 0);
        recmap_report *report;
        ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
        assert_int_equal(recmap_report_damage_count(report), 0);
        assert_int_equal(recmap_report_record_count(report), shard.due.record_count);
        recmap_report_destroy(report);
        recmap_dataset_close(dataset);
        free_shard(&shard);
    }
}

/* Every cut and many flipped bytes of a small file: indexing with skip and verifying work, and give
 * nothing but records of the file. */
static void test_damage_of_a_small_file_is_found(void **state) {
    (void)state;
    struct rng random = {7};
    const char *name = "a.gz";
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options skips = RECMAP_INDEX_OPTIONS_INIT;
    skips.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, 60000, 3, &random);
    for (size_t round = 0; round < some_rounds(300); round++) {
        struct buffer file = {must_copy(shard.file.data, shard.file.size), shard.file.size, 0};
        if (round % 2) file.size = (size_t)(20 + rng_below(&random, file.size - 20));
        else
            file.data[20 + rng_below(&random, file.size - 20)] ^=
                (uint8_t)(1 + rng_below(&random, 255));
        file_write(name, file.data, file.size);
        index_build("a.rmx", &skips, &name, 1);
        recmap_dataset *dataset = dataset_open("a.rmx", NULL);
        for (uint64_t i = 0; i < recmap_dataset_count(dataset); i++) {
            recmap_record record;
            ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
            assert_non_null(
                memmem(shard.content.data, shard.content.size, record.data, record.size));
            recmap_record_release(&record);
        }
        recmap_report *report;
        ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
        assert_int_equal(recmap_report_damage_count(report), 0);
        recmap_report_destroy(report);
        recmap_dataset_close(dataset);
        buffer_deinit(&file);
    }
    free_shard(&shard);
}

/* A file that is cut while it is open: what lies before the cut may still come, all else is an
 * error that names the file, whether it is mapped, under
 * the guard, or read. */
static void test_cut_while_open(void **state) {
    (void)state;
    struct rng random = {13};
    /* Each lost record inflates up to the cut again. */
    static const size_t steps[] = {1, 5, 11};
    const char *name = "a.gz";
    struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, 6 * MB, 2, &random);
    index_build("a.rmx", NULL, &name, 1);
    for (size_t i = 0; i < 16; i++) {
        static const size_t cuts[] = {0, 1, 4095, 4096, 4097, 100000};
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = i % 2 ? RECMAP_ACCESS_MAP : RECMAP_ACCESS_READ;
        options.guard = 1;
        file_write(name, shard.file.data, shard.file.size);
        index_build("a.rmx", NULL, &name, 1);
        recmap_dataset *dataset = dataset_open("a.rmx", &options);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, 0, &error), &error);
        recmap_record_release(&record);
        size_t cut = i / 2 < 6 ? cuts[i / 2] : (size_t)rng_below(&random, shard.file.size);
        assert_int_equal(truncate(name, (off_t)cut), 0);
        size_t lost = 0;
        for (size_t number = 0; number < shard.due.record_count; number += steps[short_level()]) {
            if (recmap_dataset_get(&record, dataset, number, &error) == RECMAP_OK) {
                assert_record(&record, &shard, number);
                recmap_record_release(&record);
                continue;
            }
            assert_true(error.status == RECMAP_IO || error.status == RECMAP_CORRUPT);
            assert_string_equal(error.path, name);
            assert_true(error.message[0] && error.advice[0]);
            lost++;
        }
        assert_true(lost > 0);
        recmap_dataset_close(dataset);
    }
    free_shard(&shard);
}

/* Writers that flush before they end leave an empty block, or an empty member, after the last byte.
 * A seek point that is due there is followed by no bytes. */
static void test_nothing_after_the_last_block(void **state) {
    (void)state;
    struct rng random = {11};
    const char *name = "a.gz";
    for (int round = 0; round < 8; round++) {
        struct packed_shard shard = {BUFFER_INIT, BUFFER_INIT, {0}};
        struct buffer nothing = BUFFER_INIT;
        while (shard.content.size < (size_t)(1 + round) * MB) add_record(&shard, &random);
        struct deflate_way way = {.level = round % 3, .memory = 8};
        if (round % 2) way.flush = Z_SYNC_FLUSH;
        add_deflated(&shard.file, COMPRESSION_GZIP, &shard.content, &way);
        if (!way.flush) add_deflated(&shard.file, COMPRESSION_GZIP, &nothing, &way);
        file_write(name, shard.file.data, shard.file.size);
        index_build("a.rmx", NULL, &name, 1);
        read_in_random_order(&shard, RECMAP_ACCESS_MAP, &random);
        free_shard(&shard);
    }
}

struct reader {
    recmap_dataset *dataset;
    const struct packed_shard *shard;
    uint64_t seed;
    bool failed;
};

static void *read_some(void *context) {
    struct reader *reader = context;
    struct rng random = {reader->seed};
    for (int i = 0; i < 2000 && !reader->failed; i++) {
        size_t number = (size_t)rng_below(&random, reader->shard->due.record_count);
        recmap_record record;
        reader->failed = recmap_dataset_get(&record, reader->dataset, number, NULL) != RECMAP_OK;
        if (reader->failed) break;
        reader->failed =
            record.size != reader->shard->due.records[number].size ||
            memcmp(record.data,
                   reader->shard->content.data + reader->shard->due.records[number].offset + 12,
                   record.size);
        recmap_record_release(&record);
    }
    return NULL;
}

/* A span that several threads need is inflated once. */
static void test_threads_share_spans(void **state) {
    (void)state;
    enum { THREADS = 4 };
    struct rng random = {10};
    const char *name = "a.gz";
    struct packed_shard shard = make_shard(name, COMPRESSION_GZIP, 12 * MB, 1, &random);
    index_build("a.rmx", NULL, &name, 1);
    recmap_dataset *dataset = dataset_open("a.rmx", NULL);
    pthread_t threads[THREADS];
    struct reader readers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){dataset, &shard, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++) assert_false(readers[i].failed);
    recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
    assert_int_equal(spans.inflated_size, shard.content.size);
    assert_true(spans.hit_count > 100);
    recmap_dataset_close(dataset);
    free_shard(&shard);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(records_are_read_in_random_order),
        TEST(parts_make_the_whole),
        TEST(damage_when_read),
        TEST(verify_counts_what_can_be_read),
        TEST(last_member_zeroed),
        TEST(another_stream_of_the_same_size),
        TEST(damage_when_indexed),
        TEST(a_wrong_stream_checksum_loses_no_record),
        TEST(damage_of_a_small_file_is_found),
        TEST(threads_share_spans),
        TEST(nothing_after_the_last_block),
        TEST(cut_while_open),
    };
    return cmocka_run_group_tests(tests, make_pool, free_pool);
}
