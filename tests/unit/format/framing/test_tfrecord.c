/* TFRecord framing: what is whole comes back, what is not is named by record and byte, nothing that
 * a header claims is believed. Where TensorFlow stops in silence, there is an error. */
#define _GNU_SOURCE
#include "format/framing/tfrecord.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include <recmap/writer.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "support/sanitizers.h"
#include "support/shards/layout.h"
#include "support/shards/oracle.h"

/* A frame of just this size holds where parse finds one of this size good. */
static void check_holds(const uint8_t *bytes, size_t size, enum frame_check check) {
    struct frame found;
    bool due = tfrecord_framing.parse(&found, &tfrecord_framing, bytes, size, check, NULL) ==
                   FRAME_GOOD &&
               found.size == size;
    assert_int_equal(tfrecord_holds(bytes, size, check), due);
}

/* Runs the functions over memory of exactly this size, and holds them against the oracle. */
static void check_bytes(const uint8_t *bytes, size_t size) {
    uint8_t *exact = must_copy(bytes, size);
    struct oracle_file due = oracle_read(exact, size, true);
    struct frame found;
    struct frame_fault fault;
    enum frame_verdict verdict =
        tfrecord_framing.parse(&found, &tfrecord_framing, exact, size, FRAME_CHECK_ALL, &fault);
    bool is_record = due.record_count > 0;
    check_holds(exact, size, FRAME_CHECK_ALL);
    check_holds(exact, size, FRAME_CHECK_HEADER);
    assert_int_equal(verdict == FRAME_GOOD, is_record);
    assert_int_equal(verdict == FRAME_AT_END, size == 0);
    if (is_record) {
        assert_int_equal(found.size, due.records[0].size + 16);
        assert_int_equal(found.data_offset, 12);
        assert_int_equal(found.data_size, due.records[0].size);
        assert_int_equal(found.check, due.records[0].check);
        assert_true(tfrecord_framing.begins_frame(&tfrecord_framing, exact, size));
        assert_true(tfrecord_holds(exact, due.records[0].size + 16, FRAME_CHECK_ALL));
    }
    if (verdict == FRAME_BAD_DATA) {
        assert_true(found.size <= size);
        assert_int_equal(tfrecord_framing.parse(&found, &tfrecord_framing, exact, size,
                                                FRAME_CHECK_HEADER, NULL),
                         FRAME_GOOD);
    }
    oracle_deinit(&due);
    free(exact);
}

static void test_parse_equals_plain_reader(void **state) {
    (void)state;
    struct rng random = {11};
    unsigned rounds = is_long() ? 300000 : some_rounds(20000);
    for (unsigned round = 0; round < rounds; round++) {
        struct buffer bytes = BUFFER_INIT;
        layout_generate(&bytes, (size_t)rng_skewed(&random, 10), &random);
        check_bytes(bytes.data, bytes.size);
        buffer_deinit(&bytes);
    }
}

/* The first whole record from each place on. */
static void test_find_equals_plain_search(void **state) {
    (void)state;
    struct rng random = {12};
    unsigned rounds = is_long() ? 5000 : some_rounds(300);
    for (unsigned round = 0; round < rounds; round++) {
        struct buffer bytes = BUFFER_INIT;
        layout_generate(&bytes, (size_t)rng_below(&random, 600), &random);
        uint8_t *exact = must_copy(bytes.data, bytes.size);
        uint64_t next = FRAME_NOWHERE;
        for (size_t from = bytes.size + 1; from-- > 0;) {
            struct oracle_file rest = oracle_read(exact + from, bytes.size - from, true);
            if (rest.record_count) next = from;
            oracle_deinit(&rest);
            uint64_t limit = rng_below(&random, bytes.size + 20);
            uint64_t due = next < limit ? next : FRAME_NOWHERE;
            assert_int_equal(tfrecord_framing.find(&tfrecord_framing, exact, bytes.size, from,
                                                   limit, SEARCH_UNBOUNDED, NULL),
                             due);
        }
        free(exact);
        buffer_deinit(&bytes);
    }
}

/* With a budget, the search stops without a result or gives the same one. */
static void test_find_within_budget(void **state) {
    (void)state;
    struct buffer bytes = BUFFER_INIT;
    uint8_t junk[104] = {1};
    for (int i = 0; i < 50; i++) {
        oracle_add_header(&bytes, 100);
        buffer_add(&bytes, junk, 104);
    }
    uint64_t good = bytes.size;
    oracle_add_record(&bytes, "good", 4);
    uint64_t at = tfrecord_framing.find(&tfrecord_framing, bytes.data, bytes.size, 0, bytes.size,
                                        SEARCH_UNBOUNDED, NULL);
    assert_int_equal(at, good);
    assert_int_equal(tfrecord_framing.find(&tfrecord_framing, bytes.data, bytes.size, 0, bytes.size,
                                           (struct search_budget){100000, 4000}, NULL),
                     FRAME_NOWHERE);
    assert_int_equal(tfrecord_framing.find(&tfrecord_framing, bytes.data, bytes.size, 0, bytes.size,
                                           (struct search_budget){100000, 5004}, NULL),
                     good);
    buffer_deinit(&bytes);
}

static void test_frame_of_payload(void **state) {
    (void)state;
    struct rng random = {13};
    for (size_t size = 0; size < 3000; size = size * 5 / 4 + 1) {
        struct buffer payload = BUFFER_INIT, due = BUFFER_INIT;
        buffer_add_random(&payload, size, &random);
        oracle_add_record(&due, payload.data, size);
        recmap_frame made = recmap_frame_of(payload.data, size);
        assert_memory_equal(made.header, due.data, 12);
        assert_memory_equal(made.footer, due.data + 12 + size, 4);
        buffer_deinit(&payload);
        buffer_deinit(&due);
    }
}

/* The file of TensorFlow's verdicts: "foo", "", "hello". */
static struct buffer small_file(void) {
    struct buffer bytes = BUFFER_INIT;
    oracle_add_record(&bytes, "foo", 3);
    oracle_add_record(&bytes, NULL, 0);
    oracle_add_record(&bytes, "hello", 5);
    assert_int_equal(bytes.size, 56);
    return bytes;
}

static uint64_t begin_of_record(uint64_t byte, uint64_t *record) {
    static const uint64_t begins[] = {0, 19, 35, 56};
    *record = 0;
    while (*record < 3 && begins[*record + 1] <= byte) ++*record;
    return begins[*record];
}

/* The error of indexing `bytes` names record and byte; `record` may be unknown if the file is not
 * TFRecord. */
static void assert_raises(const struct buffer *bytes, uint64_t record, uint64_t offset) {
    const char *name = "shard";
    recmap_error error = RECMAP_ERROR_INIT;
    file_write(name, bytes->data, bytes->size);
    assert_int_equal(index_try("x.rmx", NULL, &name, 1, &error), RECMAP_CORRUPT);
    assert_string_equal(error.path, "shard");
    assert_int_equal(error.offset, offset);
    assert_int_equal(error.record, record);
    assert_true(error.advice[0]);
    assert_false(file_exists("x.rmx"));
}

static uint64_t indexed_count(const struct buffer *bytes) {
    uint64_t count = index_bytes("x.rmx", NULL, "shard", bytes).record_count;
    assert_int_equal(remove("x.rmx"), 0);
    return count;
}

static void test_every_truncation_is_damage(void **state) {
    (void)state;
    struct buffer whole = small_file();
    for (size_t size = 0; size <= whole.size; size++) {
        struct buffer cut = {whole.data, size, size};
        uint64_t record, begin = begin_of_record(size, &record);
        if (size == begin) assert_int_equal(indexed_count(&cut), record);
        else assert_raises(&cut, record, begin);
    }
    buffer_deinit(&whole);
}

static void test_every_flipped_bit(void **state) {
    (void)state;
    struct buffer whole = small_file();
    for (size_t bit = 0; bit < whole.size * 8; bit++) {
        whole.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        uint64_t record, begin = begin_of_record(bit / 8, &record);
        assert_raises(&whole, record, begin);
        whole.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_deinit(&whole);
}

/* 100 records in 20 KiB: raising names the record that is hurt, skipping keeps the 99 others. */
static void test_bits_of_100_records(void **state) {
    (void)state;
    enum { COUNT = 100 };
    struct rng random = {15};
    struct buffer whole = BUFFER_INIT;
    uint64_t begins[COUNT + 1] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        struct buffer payload = BUFFER_INIT;
        buffer_add_random(&payload, (size_t)rng_below(&random, 380), &random);
        oracle_add_record(&whole, payload.data, payload.size);
        begins[i + 1] = whole.size;
        buffer_deinit(&payload);
    }
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    size_t record = 0;
    for (size_t bit = 0; bit < whole.size * 8; bit += is_long() ? 1 : 61) {
        while (begins[record + 1] <= bit / 8) record++;
        whole.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_raises(&whole, record, begins[record]);
        recmap_index_summary found = index_bytes("x.rmx", &options, "shard", &whole);
        assert_int_equal(found.record_count, COUNT - 1);
        assert_int_equal(found.damage_count, 1);
        assert_int_equal(found.damaged_byte_count, begins[record + 1] - begins[record]);
        assert_int_equal(remove("x.rmx"), 0);
        whole.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_deinit(&whole);
}

static void test_trailing_bytes_are_damage(void **state) {
    (void)state;
    for (size_t more = 1; more <= 20; more++)
        for (int byte = 0; byte < 256; byte += 0xaa) {
            struct buffer bytes = small_file();
            for (size_t i = 0; i < more; i++) buffer_add_byte(&bytes, (uint8_t)byte);
            assert_raises(&bytes, 3, 56);
            buffer_deinit(&bytes);
        }
}

/* Reads the truncations out of TensorFlow's verdicts: what it returned is what a skipping index
 * has, and where it stopped with "OUT_OF_RANGE" inside a record there is damage. */
static void test_verdicts_of_tensorflow(void **state) {
    (void)state;
    const char *folder = shared_data();
    if (!folder) skip();
    char path[PATH_ROOM], line[1024];
    snprintf(path, sizeof path, "%s/verdicts/reader_verdicts.txt", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct buffer whole = small_file();
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    unsigned lines = 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "## single", 9)) {
        unsigned from, to, records, bytes;
        if (sscanf(line, "len %u..%u: %u %u", &from, &to, &records, &bytes) != 4) continue;
        for (unsigned size = from; size <= to; size++) {
            struct buffer cut = {whole.data, size, size};
            recmap_index_summary found = index_bytes("x.rmx", &options, "shard", &cut);
            uint64_t record;
            assert_int_equal(found.record_count, records);
            assert_int_equal(found.damage_count, begin_of_record(size, &record) != size);
        }
        lines++;
    }
    assert_int_equal(lines, 7);
    buffer_deinit(&whole);
    fclose(file);
}

/* Lengths whose CRC holds and which are wrong nevertheless. */
static size_t named_lengths(uint64_t *lengths, uint64_t size_left) {
    const uint64_t fixed[] = {
        0x7fffffff,         0x80000000,      0xffffffff,         0x100000000,
        0x100000,           0x10000000000,   0x4000000000000000, 0x7ffffffffffffffb,
        0x7ffffffffffffffc, INT64_MAX,       (uint64_t)1 << 63,  0xffffffffffffffec,
        UINT64_MAX,         UINT64_MAX - 1,  UINT64_MAX - 3,     UINT64_MAX - 4,
        UINT64_MAX - 11,    UINT64_MAX - 12, UINT64_MAX - 15,    UINT64_MAX - 16,
        UINT64_MAX - 19,    UINT64_MAX - 27,
    };
    size_t count = 0;
    for (; count < sizeof fixed / sizeof *fixed; count++) lengths[count] = fixed[count];
    /* Around what is really left of the file, in every sense of "left". */
    for (uint64_t less = 0; less <= 17; less++)
        if (size_left - less != size_left - 16) lengths[count++] = size_left - less;
    lengths[count++] = size_left + 1;
    return count;
}

/* Headers whose CRC is right but whose length is extreme. The scan must neither read past the bytes
 * nor allocate the named length: the process may only use 4 GiB, except under sanitizers, which
 * need more. */
static void test_extreme_lengths_are_not_believed(void **state) {
    (void)state;
    enum { BEFORE = 19, PAYLOAD = 40 };
    uint64_t lengths[64];
    size_t count = named_lengths(lengths, PAYLOAD + 16);
    assert_true(count >= 40);
    struct rlimit memory = {(rlim_t)1 << 32, (rlim_t)1 << 32}, before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    memory.rlim_max = before.rlim_max;
    if (!has_address_sanitizer && !has_thread_sanitizer) setrlimit(RLIMIT_AS, &memory);
    for (size_t i = 0; i < count; i++) {
        struct buffer bytes = BUFFER_INIT;
        uint8_t junk[PAYLOAD + 4] = {0};
        oracle_add_record(&bytes, "foo", 3);
        oracle_add_header(&bytes, lengths[i]);
        buffer_add(&bytes, junk, sizeof junk);
        check_bytes(bytes.data + BEFORE, bytes.size - BEFORE);
        assert_raises(&bytes, 1, BEFORE);
        buffer_deinit(&bytes);
    }
    setrlimit(RLIMIT_AS, &before);
}

/* A bad chunk among 23 records of 10,000 bytes: exactly that one is lost. */
static void test_one_bad_chunk_loses_one_record(void **state) {
    (void)state;
    enum { SIZE = 10000, FRAME = SIZE + 16, COUNT = 23 };
    struct rng random = {14};
    struct buffer bytes = BUFFER_INIT, payload = BUFFER_INIT;
    buffer_add_random(&payload, SIZE, &random);
    for (int i = 0; i < COUNT; i++) oracle_add_record(&bytes, payload.data, SIZE);
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    for (size_t record = 0; record < COUNT; record += 11)
        for (size_t place = 0; place < FRAME; place += place < 20 ? 1 : 1663) {
            size_t at = record * FRAME + place;
            bytes.data[at] ^= 0x20;
            recmap_index_summary found = index_bytes("x.rmx", &options, "shard", &bytes);
            assert_int_equal(found.record_count, COUNT - 1);
            assert_int_equal(found.damage_count, 1);
            assert_int_equal(found.damaged_byte_count, FRAME);
            recmap_dataset *dataset = dataset_open("x.rmx", NULL);
            recmap_damage damage;
            assert_int_equal(recmap_dataset_get_damage(&damage, dataset, 0, NULL), RECMAP_OK);
            assert_int_equal(damage.offset, record * FRAME);
            recmap_dataset_close(dataset);
            bytes.data[at] ^= 0x20;
        }
    buffer_deinit(&payload);
    buffer_deinit(&bytes);
}

static void assert_one_byte_is_damage(uint8_t byte) {
    struct buffer bytes = {&byte, 1, 1};
    assert_raises(&bytes, 0, 0);
}

/* An empty file has no records; one byte is damage, whichever: too few to be called text. */
static void test_one_byte_is_damage(void **state) {
    (void)state;
    struct buffer empty = BUFFER_INIT;
    assert_int_equal(indexed_count(&empty), 0);
    assert_one_byte_is_damage(0);
    assert_one_byte_is_damage(0x1f);
    assert_one_byte_is_damage('a');
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(parse_equals_plain_reader),
        TEST(find_equals_plain_search),
        TEST(find_within_budget),
        TEST(frame_of_payload),
        TEST(every_truncation_is_damage),
        TEST(every_flipped_bit),
        TEST(bits_of_100_records),
        TEST(trailing_bytes_are_damage),
        TEST(verdicts_of_tensorflow),
        TEST(extreme_lengths_are_not_believed),
        TEST(one_bad_chunk_loses_one_record),
        TEST(one_byte_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
