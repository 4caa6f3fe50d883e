/* The builder with more records, bytes and damage than its tables hold at once. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/layout.h"
#include "support/shards/oracle.h"
#include "unit/index/build/parts.h"

/* A payload is a u32, the record's number. */
static uint32_t number_of(const recmap_record *record) {
    uint32_t number = 0;
    for (size_t i = 4; i-- > 0 && record->size == 4;) number = number << 8 | record->data[i];
    return number;
}

enum { MANY = 1150000, FIRST_TYPED = 700000, IDS_REPEAT = 1100000 };

static recmap_status extract_number(const recmap_record *record, recmap_value *id,
                                    recmap_value *columns, size_t column_count, char *message,
                                    size_t message_capacity, void *context) {
    (void)context;
    (void)message;
    (void)message_capacity;
    uint32_t number = number_of(record);
    if (id && number % 50) *id = int64_value(number % IDS_REPEAT);
    if (column_count == 2 && number >= FIRST_TYPED && number % 7) columns[0] = int64_value(number);
    if (column_count == 2 && number % 3) {
        columns[1].type = RECMAP_TYPE_BYTES;
        columns[1].as.bytes.data = record->data;
        columns[1].as.bytes.size = number % 5;
    }
    return RECMAP_OK;
}

static void write_many(const char *const *names, size_t shard_count) {
    uint32_t number = 0;
    for (size_t s = 0; s < shard_count; s++) {
        struct buffer shard = BUFFER_INIT;
        for (uint32_t end = (uint32_t)(MANY * (s + 1) / shard_count); number < end; number++) {
            uint8_t payload[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                                  (uint8_t)(number >> 24)};
            oracle_add_record(&shard, payload, 4);
        }
        file_write(names[s], shard.data, shard.size);
        buffer_deinit(&shard);
    }
}

static void check_columns_of_many(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    int64_t *numbers = must_realloc(NULL, MANY * sizeof *numbers);
    recmap_value *bytes = must_realloc(NULL, MANY * sizeof *bytes);
    ASSERT_OK(recmap_dataset_read_int64(numbers, dataset, 1, 0, MANY, &error), &error);
    ASSERT_OK(recmap_dataset_read_bytes(bytes, dataset, 2, 0, MANY, &error), &error);
    for (uint32_t i = 0; i < MANY; i++) {
        int64_t due = i >= FIRST_TYPED && i % 7 ? (int64_t)i : -3;
        size_t due_size = i % 3 ? i % 5 : 4;
        if (numbers[i] != due || bytes[i].as.bytes.size != due_size)
            fail_msg("record %u: %" PRId64 ", %zu bytes", i, numbers[i], bytes[i].as.bytes.size);
    }
    free(bytes);
    free(numbers);
}

/* Samples of records, ids and places in a data set that is too large to compare completely. */
static void check_many(void) {
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.lift = extract_number;
    recmap_dataset *dataset = dataset_open("once.rmx", &opening);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_count(dataset), MANY);
    assert_int_equal(recmap_dataset_get_info(dataset)->id_count, MANY - MANY / 50);
    struct rng random = {3};
    for (int i = 0; i < 5000; i++) {
        uint32_t number = (uint32_t)rng_below(&random, i % 2 ? MANY : MANY - IDS_REPEAT);
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, number, &error), &error);
        assert_int_equal(number_of(&record), number);
        recmap_value id = int64_value(number % IDS_REPEAT);
        uint64_t found[3];
        size_t count;
        ASSERT_OK(recmap_dataset_find_all(found, 3, &count, dataset, &id, &error), &error);
        uint32_t first = number % IDS_REPEAT;
        size_t due = (first % 50 != 0) + (first + IDS_REPEAT < MANY && (first % 50 != 0));
        assert_int_equal(count, due);
        if (due) assert_int_equal(found[0], first);
        if (due == 2) assert_int_equal(found[1], first + IDS_REPEAT);
    }
    check_columns_of_many(dataset);
    recmap_dataset_close(dataset);
}

/* More records than a chunk of offsets or columns holds, more ids than are sorted at once; a shard
 * of several segments. */
static void test_records_beyond_one_chunk_are_indexed(void **state) {
    (void)state;
    const char *const *names = shard_names(3);
    write_many(names, 3);
    recmap_lift lifts[] = {{"number", "-3", 0}, {"bytes", "none", 0}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lifts = lifts;
    options.lift_count = 2;
    options.lift = extract_number;
    struct rng random = {1};
    assert_same_by_all_paths(&options, names, 3, &random);
    check_many();
}

/* One shard of several real segments, full of records that look like streams. */
static void test_a_shard_of_several_segments_is_indexed(void **state) {
    (void)state;
    struct rng random = {8};
    struct buffer shard = BUFFER_INIT;
    while (shard.size < 18 << 20) layout_add_records(&shard, 1 << 20, &random);
    for (int i = 0; i < 6; i++) layout_damage(&shard, &random);
    file_write("shard", shard.data, shard.size);
    const char *name = "shard";
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.thread_count = 1;
    index_build("one.rmx", &options, &name, 1);
    options.thread_count = 4;
    recmap_index_summary summary = index_build("four.rmx", &options, &name, 1);
    assert_same_file("one.rmx", "four.rmx");
    struct oracle_file due = oracle_read(shard.data, shard.size, false);
    assert_int_equal(summary.record_count, due.record_count);
    assert_int_equal(summary.damage_count, due.damage_count);
    oracle_deinit(&due);
    buffer_deinit(&shard);
}

/* More damage than a table holds, in a shard of several segments and chunks. */
static void test_damage_beyond_one_table_is_indexed(void **state) {
    (void)state;
    enum { RECORDS = 700000, APART = 50 };
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < RECORDS; i++) {
        oracle_add_record(&shard, "12345678", 8);
        if (i % APART == 0) shard.data[shard.size - 1] ^= 1;
    }
    file_write("shard", shard.data, shard.size);
    buffer_deinit(&shard);
    const char *name = "shard";
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    struct rng random = {2};
    assert_same_by_all_paths(&options, &name, 1, &random);
    recmap_dataset *dataset = dataset_open("once.rmx", NULL);
    assert_int_equal(recmap_dataset_count(dataset), RECORDS - RECORDS / APART);
    assert_int_equal(recmap_dataset_get_info(dataset)->damage_count, RECORDS / APART);
    for (uint64_t i = 0; i < RECORDS / APART; i += 7) {
        recmap_damage damage;
        assert_int_equal(recmap_dataset_get_damage(&damage, dataset, i, NULL), RECMAP_OK);
        assert_int_equal(damage.offset, i * APART * 24);
        assert_int_equal(damage.size, 24);
    }
    recmap_location place;
    assert_int_equal(recmap_dataset_locate(&place, dataset, 48, 1, NULL), RECMAP_OK);
    assert_int_equal(place.size, 8);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(records_beyond_one_chunk_are_indexed),
        TEST(a_shard_of_several_segments_is_indexed),
        TEST(damage_beyond_one_table_is_indexed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
