/* Compressed shards of records that have no check of their own: what a member's checksum does not
 * vouch for is never handed out in silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/deflate.h"

enum { RECORDS = 400, MEMBERS = 3, FIXED_SIZE = 40, HEADER = 7, FOOTER = 5 };

static const char name[] = "a.z";

/* A framing of one's own: a byte that says how many follow. */
static recmap_frame_verdict parse_short(recmap_frame_place *frame, const uint8_t *bytes,
                                        size_t size, recmap_frame_fault *fault, void *context) {
    (void)fault;
    (void)context;
    if (size < 1u + bytes[0]) return RECMAP_FRAME_BAD;
    *frame = (recmap_frame_place){.size = 1u + bytes[0], .data_offset = 1, .data_size = bytes[0]};
    return RECMAP_FRAME_GOOD;
}

static const recmap_framing short_framing = {
    .version = RECMAP_FRAMING_VERSION, .name = "short", .parse = parse_short};

static const char *const kinds[] = {"lines", "fixed:7,40,5", "ofrecord", "short"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Records, what they are before compression, and the members. */
struct shard {
    struct buffer records[RECORDS];
    struct buffer content, file;
    size_t member_end[MEMBERS]; /* in the file */
};

static void frame_record(struct buffer *out, const struct buffer *record, size_t kind) {
    uint8_t length[8] = {(uint8_t)record->size};
    if (kind == 2) buffer_add(out, length, 8);
    if (kind == 3) buffer_add(out, length, 1);
    buffer_add(out, record->data, record->size);
    if (kind == 0) buffer_add_byte(out, '\n');
}

/* Writes RECORDS records in the given framing, then compresses them as MEMBERS members of about
 * equal size. The end of each member is kept for the tests that damage one. */
static struct shard *make_shard(size_t kind, enum compression compression_kind,
                                struct rng *random) {
    struct shard *shard = calloc(1, sizeof *shard);
    if (!shard) abort();
    if (kind == 1) buffer_add(&shard->content, "HEADER.", HEADER);
    for (size_t i = 0; i < RECORDS; i++) {
        struct buffer *record = &shard->records[i];
        char text[24];
        snprintf(text, sizeof text, "%06zu ", i);
        buffer_add(record, text, 7);
        size_t size = kind == 1 ? FIXED_SIZE : 10 + (size_t)rng_below(random, 90);
        while (record->size < size) buffer_add_byte(record, (uint8_t)('a' + rng_below(random, 7)));
        frame_record(&shard->content, record, kind);
    }
    if (kind == 1) buffer_add(&shard->content, "FOOT.", FOOTER);
    struct deflate_way way = {.level = 6, .memory = 8};
    for (size_t m = 0, done = 0; m < MEMBERS; m++) {
        size_t end = compression_kind == COMPRESSION_ZLIB || m + 1 == MEMBERS
                         ? shard->content.size
                         : shard->content.size / MEMBERS * (m + 1);
        struct buffer part = {shard->content.data + done, end - done, 0};
        if (end > done) add_deflated(&shard->file, compression_kind, &part, &way);
        shard->member_end[m] = shard->file.size;
        done = end;
    }
    return shard;
}

static void free_shard(struct shard *shard) {
    for (size_t i = 0; i < RECORDS; i++) buffer_deinit(&shard->records[i]);
    buffer_deinit(&shard->content);
    buffer_deinit(&shard->file);
    free(shard);
}

/* Lifts the text's six digits, so that columns follow records that go. */
static recmap_status lift_digits(const recmap_record *record, recmap_value *id,
                                 recmap_value *columns, size_t column_count, char *message,
                                 size_t message_capacity, void *context) {
    (void)context, (void)id, (void)column_count, (void)message, (void)message_capacity;
    columns[0].type = RECMAP_TYPE_BYTES;
    columns[0].as.bytes.data = record->data;
    columns[0].as.bytes.size = record->size < 6 ? record->size : 6;
    return RECMAP_OK;
}

static recmap_index_options options_of(size_t kind, enum compression compression_kind,
                                       recmap_on_bad_record on_bad_record) {
    static const recmap_lift lift = {"digits", NULL, 0};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.framing = kinds[kind];
    /* What a ZLIB stream begins with is too little to tell it in these framings. */
    options.compression = compression_kind == COMPRESSION_GZIP ? RECMAP_COMPRESSION_GZIP
                                                               : RECMAP_COMPRESSION_ZLIB;
    options.on_bad_record = on_bad_record;
    options.lifts = &lift;
    options.lift_count = 1;
    options.lift = lift_digits;
    return options;
}

static uint64_t count_findings(recmap_dataset *dataset) {
    recmap_report *report;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
    uint64_t count = recmap_report_damage_count(report);
    recmap_report_destroy(report);
    return count;
}

/* Whatever is numbered is a record of the shard, in its order; returns how many are. */
static size_t check_records(const struct shard *due, bool *has) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = dataset_open("a.rmx", NULL);
    size_t count = (size_t)recmap_dataset_count(dataset), at = 0;
    memset(has, 0, RECORDS * sizeof *has);
    for (size_t i = 0; i < count; i++, at++) {
        recmap_record record;
        recmap_value digits;
        ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
        while (at < RECORDS && (due->records[at].size != record.size ||
                                memcmp(due->records[at].data, record.data, record.size)))
            at++;
        assert_true(at < RECORDS);
        has[at] = true;
        ASSERT_OK(recmap_dataset_read_bytes(&digits, dataset, 1, i, 1, &error), &error);
        assert_int_equal(digits.as.bytes.size, 6);
        assert_memory_equal(digits.as.bytes.data, record.data, 6);
        recmap_record_release(&record);
    }
    assert_int_equal(count_findings(dataset), 0);
    assert_true(count == RECORDS || recmap_dataset_get_info(dataset)->damage_count > 0);
    recmap_dataset_close(dataset);
    return count;
}

static void build(size_t kind, enum compression compression_kind,
                  recmap_on_bad_record on_bad_record) {
    const char *path = name;
    recmap_index_options options = options_of(kind, compression_kind, on_bad_record);
    index_build("a.rmx", &options, &path, 1);
}

static void test_whole_streams_give_all_records(void **state) {
    (void)state;
    struct rng random = {1};
    bool has[RECORDS];
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (enum compression by = COMPRESSION_GZIP; by <= COMPRESSION_ZLIB; by++) {
            struct shard *shard = make_shard(kind, by, &random);
            file_write(name, shard->file.data, shard->file.size);
            build(kind, by, RECMAP_ON_BAD_RECORD_ERROR);
            assert_int_equal(check_records(shard, has), RECORDS);
            free_shard(shard);
        }
    }
}

/* A member with a wrong checksum is lost, and so is everything after it. */
static void test_a_wrong_checksum_loses_all_that_follows(void **state) {
    (void)state;
    struct rng random = {2};
    bool has[RECORDS];
    for (size_t round = 0; round < KINDS * MEMBERS; round++) {
        size_t kind = round % KINDS, m = round / KINDS;
        const char *path = name;
        recmap_error error = RECMAP_ERROR_INIT;
        struct shard *shard = make_shard(kind, COMPRESSION_GZIP, &random);
        file_write(name, shard->file.data, shard->file.size);
        build(kind, COMPRESSION_GZIP, RECMAP_ON_BAD_RECORD_ERROR);
        uint8_t *sum = shard->file.data + shard->member_end[m] - 8;
        sum[1] ^= 0x10;
        /* Changed in place after indexing: verify reports it. */
        file_alter(name, 0, shard->file.data, shard->file.size);
        recmap_dataset *dataset = dataset_open("a.rmx", NULL);
        assert_true(count_findings(dataset) > 0);
        recmap_dataset_close(dataset);
        recmap_index_options raises =
            options_of(kind, COMPRESSION_GZIP, RECMAP_ON_BAD_RECORD_ERROR);
        assert_int_equal(index_try("a.rmx", &raises, &path, 1, &error), RECMAP_CORRUPT);
        build(kind, COMPRESSION_GZIP, RECMAP_ON_BAD_RECORD_SKIP);
        size_t count = check_records(shard, has);
        for (size_t i = 0; i < RECORDS; i++) {
            /* Well inside of a member: sizes differ a little. */
            double place = (double)i / RECORDS * MEMBERS - (double)m;
            if (place > 0.2 && place < 0.8) assert_false(has[i]);
            if (place < -0.2) assert_true(has[i]);
            if (place > 1.2) assert_false(has[i]);
        }
        assert_true(count > 0 || m == 0);
        free_shard(shard);
    }
}

/* Cuts, and flipped bytes that a member follows: nothing that is handed out is wrong. (A flip in
 * the last member may look like a cut.) */
static void test_damage_anywhere_gives_no_wrong_record(void **state) {
    (void)state;
    struct rng random = {3};
    bool has[RECORDS];
    size_t found = 0, rounds = is_long() ? 8000 : 800;
    for (size_t round = 0; round < rounds; round++) {
        size_t kind = round % KINDS;
        enum compression by = round / KINDS % 4 ? COMPRESSION_GZIP : COMPRESSION_ZLIB;
        struct shard *shard = make_shard(kind, by, &random);
        bool cuts = by == COMPRESSION_ZLIB || rng_one_in(&random, 3);
        size_t max = cuts ? shard->file.size : shard->member_end[MEMBERS - 2];
        size_t at = 16 + (size_t)rng_below(&random, max - 16);
        if (cuts) shard->file.size = at;
        else shard->file.data[at] ^= (uint8_t)(1u << rng_below(&random, 8));
        file_write(name, shard->file.data, shard->file.size);
        build(kind, by, RECMAP_ON_BAD_RECORD_SKIP);
        found += check_records(shard, has);
        free_shard(shard);
    }
    assert_true(found > rounds * RECORDS / 8);
}

/* A tail that never reached the device: the member inflates on to anything, up to the end. */
static void test_zeros_at_the_end(void **state) {
    (void)state;
    struct rng random = {4};
    bool has[RECORDS];
    size_t found = 0;
    for (size_t round = 0; round < 100 * KINDS; round++) {
        size_t kind = round % KINDS;
        struct shard *shard = make_shard(kind, COMPRESSION_GZIP, &random);
        size_t at = 16 + (size_t)rng_below(&random, shard->file.size - 32);
        memset(shard->file.data + at, 0, shard->file.size - at);
        file_write(name, shard->file.data, shard->file.size);
        build(kind, COMPRESSION_GZIP, RECMAP_ON_BAD_RECORD_SKIP);
        found += check_records(shard, has);
        free_shard(shard);
    }
    assert_true(found > 100 * KINDS * RECORDS / 8);
}

/* Damage afterwards may give records another length: they are bad ones, which a loader can skip. */
static void test_damage_when_read(void **state) {
    (void)state;
    struct rng random = {5};
    size_t bad = 0;
    for (size_t round = 0; round < 20 * KINDS; round++) {
        size_t kind = round % KINDS;
        struct shard *shard = make_shard(kind, COMPRESSION_GZIP, &random);
        file_write(name, shard->file.data, shard->file.size);
        build(kind, COMPRESSION_GZIP, RECMAP_ON_BAD_RECORD_ERROR);
        size_t at = 16 + (size_t)rng_below(&random, shard->file.size - 16);
        shard->file.data[at] ^= (uint8_t)(1u << rng_below(&random, 8));
        file_alter(name, 0, shard->file.data, shard->file.size);
        recmap_dataset *dataset = dataset_open("a.rmx", NULL);
        for (size_t i = 0; i < RECORDS; i++) {
            recmap_error error = RECMAP_ERROR_INIT;
            recmap_record record;
            if (recmap_dataset_get(&record, dataset, i, &error) == RECMAP_OK) {
                recmap_record_release(&record);
                continue;
            }
            assert_int_equal(error.status, RECMAP_CORRUPT);
            bad++;
        }
        recmap_dataset_close(dataset);
        free_shard(shard);
    }
    assert_true(bad > 0);
}

static int register_short(void **state) {
    (void)state;
    return recmap_framing_register(&short_framing, NULL) != RECMAP_OK;
}

/* ---- several plain files of a framing that cannot be guessed in ---- */

static pthread_t caller;
static atomic_size_t parsed_here, parsed_there;

/* Notes which thread asks. */
static recmap_frame_verdict parse_large(recmap_frame_place *frame, const uint8_t *bytes,
                                        size_t size, recmap_frame_fault *fault, void *context) {
    enum { SIZE = 64 << 10 };
    (void)bytes;
    (void)fault;
    (void)context;
    if (!size) return RECMAP_FRAME_END;
    if (size < SIZE) return RECMAP_FRAME_BAD;
    atomic_fetch_add(pthread_equal(pthread_self(), caller) ? &parsed_here : &parsed_there, 1);
    *frame = (recmap_frame_place){.size = SIZE, .data_offset = 0, .data_size = SIZE};
    return RECMAP_FRAME_GOOD;
}

/* Each file is scanned by a worker; the thread that joins what they found would do it one by one.
 */
static void test_files_at_once(void **state) {
    (void)state;
    enum { FILES = 3, FILE_SIZE = 20 << 20, RECORD = 64 << 10 };
    static const char *const names[FILES] = {"a", "b", "c"};
    const recmap_framing large = {
        .version = RECMAP_FRAMING_VERSION, .name = "large", .parse = parse_large};
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_framing_register(&large, &error), &error);
    uint8_t *content = calloc(1, FILE_SIZE);
    assert_non_null(content);
    for (int i = 0; i < FILES; i++) file_write(names[i], content, FILE_SIZE);
    free(content);
    caller = pthread_self();
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.framing = "large";
    options.thread_count = 2;
    recmap_index_summary summary = index_build("a.rmx", &options, names, FILES);
    assert_int_equal(summary.record_count, FILES * (FILE_SIZE / RECORD));
    assert_true(atomic_load(&parsed_there) >= FILES * (FILE_SIZE / RECORD));
    assert_int_equal(atomic_load(&parsed_here), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(whole_streams_give_all_records),
                                       TEST(a_wrong_checksum_loses_all_that_follows),
                                       TEST(damage_anywhere_gives_no_wrong_record),
                                       TEST(zeros_at_the_end),
                                       TEST(damage_when_read),
                                       TEST(files_at_once)};
    return cmocka_run_group_tests(tests, register_short, NULL);
}
