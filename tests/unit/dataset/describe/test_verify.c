/* Verifying finds exactly what was broken, and passes over what the index lists; info and reports
 * are sound JSON. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"
#include "support/json.h"
#include "support/shards/oracle.h"

static recmap_report *verify(recmap_dataset *dataset, unsigned threads) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    options.thread_count = threads;
    recmap_report *report;
    ASSERT_OK(recmap_dataset_verify(&report, dataset, &options, &error), &error);
    return report;
}

static struct known make_set(bool is_damaged, uint64_t seed) {
    struct rng random = {seed};
    struct known_options made = {4, 150, 80, is_damaged, true, false};
    struct known set = known_generate(&made, &random);
    recmap_index_options options = known_index_options(&set);
    index_build("set.rmx", &options, shard_names(4), 4);
    return set;
}

static void test_a_sound_set_has_no_new_damage(void **state) {
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        struct known set = make_set(damaged, 1);
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        recmap_report *report = verify(dataset, 1 + (unsigned)damaged * 3);
        assert_int_equal(recmap_report_damage_count(report), 0);
        assert_int_equal(recmap_report_record_count(report), set.count);
        recmap_report_destroy(report);
        recmap_dataset_close(dataset);
        known_deinit(&set);
    }
}

/* One byte of one record is flipped: that record is the finding, whichever byte it is. */
static void test_a_flipped_byte_damages_its_record(void **state) {
    (void)state;
    struct known set = make_set(true, 2);
    struct rng random = {9};
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    int rounds = is_long() ? 3000 : 200;
    for (int round = 0; round < rounds; round++) {
        size_t number = (size_t)rng_below(&random, set.count);
        const struct known_record *record = &set.records[number];
        uint64_t at = record->offset + rng_below(&random, record->size + 16);
        struct buffer *shard = &set.shards[record->shard];
        uint8_t broken = shard->data[at] ^ (uint8_t)(1 + rng_below(&random, 255));
        file_alter(shard_names(4)[record->shard], at, &broken, 1);
        recmap_report *report = verify(dataset, 1 + (unsigned)round % 4);
        assert_int_equal(recmap_report_damage_count(report), 1);
        recmap_damage damage = recmap_report_damage(report, 0);
        assert_int_equal(damage.shard_index, record->shard);
        assert_int_equal(damage.record, number);
        assert_true(damage.offset <= record->offset);
        assert_true(damage.offset + damage.size >= record->offset + record->size + 16);
        assert_true(damage.reason[0]);
        assert_int_equal(recmap_report_record_count(report), set.count - 1);
        recmap_report_destroy(report);
        file_alter(shard_names(4)[record->shard], at, &shard->data[at], 1);
    }
    recmap_dataset_close(dataset);
    known_deinit(&set);
}

/* Damage in several shards comes in file order. */
static void test_order_of_findings(void **state) {
    (void)state;
    struct known set = make_set(false, 3);
    size_t broken[] = {3, 40, 41, 90, 149};
    for (size_t i = 0; i < 5; i++) {
        const struct known_record *record = &set.records[broken[i]];
        uint8_t byte = set.shards[record->shard].data[record->offset + 13] ^ 1;
        file_alter(shard_names(4)[record->shard], record->offset + 13, &byte, 1);
    }
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_report *report = verify(dataset, 4);
    assert_int_equal(recmap_report_damage_count(report), 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(recmap_report_damage(report, i).record, broken[i]);
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_report_to_json(&text, report, &error), &error);
    assert_json(text.data, text.size);
    assert_non_null(strstr(text.data, "\"records\":150"));
    assert_non_null(strstr(text.data, "\"records_good\":145"));
    assert_non_null(strstr(text.data, "\"record\":149"));
    recmap_text_deinit(&text);
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
    known_deinit(&set);
}

/* The index alone: shards may be gone. */
static void test_index_only_reads_no_shard(void **state) {
    (void)state;
    struct known set = make_set(false, 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(remove(shard_names(4)[i]), 0);
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.allow_missing_shards = 1;
    recmap_dataset *dataset = dataset_open("set.rmx", &opening);
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    options.index_only = 1;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report;
    ASSERT_OK(recmap_dataset_verify(&report, dataset, &options, &error), &error);
    assert_int_equal(recmap_report_damage_count(report), 0);
    recmap_report_destroy(report);
    report = verify(dataset, 2);
    assert_int_equal(recmap_report_damage_count(report), 4);
    assert_int_equal(recmap_report_record_count(report), 0);
    recmap_report_destroy(report);
    options.version = 5;
    assert_int_equal(recmap_dataset_verify(&report, dataset, &options, &error), RECMAP_INVALID);
    recmap_dataset_close(dataset);
    known_deinit(&set);
}

static int cancel(const recmap_progress *progress, void *context) {
    (void)context;
    (void)progress;
    return 1;
}

static void test_progress_can_cancel_verifying(void **state) {
    (void)state;
    struct known set = make_set(false, 5);
    assert_int_equal(remove("s00000"), 0);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    options.progress = cancel;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report = NULL;
    for (int round = 0; round < 50; round++)
        assert_int_equal(recmap_dataset_verify(&report, dataset, &options, &error),
                         RECMAP_CANCELLED);
    assert_null(report);
    recmap_dataset_close(dataset);
    known_deinit(&set);
}

static void assert_has(const char *text, const char *format, ...) {
    char part[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    if (!strstr(text, part)) fail_msg("no %s in %s", part, text);
}

/* The JSON must parse and hold the data set's numbers. The shard table is included only on request.
 * */
static void test_info_as_json(void **state) {
    (void)state;
    struct known set = make_set(true, 6);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text text = RECMAP_TEXT_INIT;
    ASSERT_OK(recmap_dataset_info_to_json(&text, dataset, 0, &error), &error);
    assert_json(text.data, text.size);
    assert_null(strstr(text.data, "shard_table"));
    text.size = 0;
    ASSERT_OK(recmap_dataset_info_to_json(&text, dataset, 1, &error), &error);
    assert_json(text.data, text.size);
    uint64_t bytes = 0;
    for (size_t i = 0; i < 4; i++) bytes += set.shards[i].size;
    assert_has(text.data, "\"records\":150,");
    assert_has(text.data, "\"shards\":4,");
    assert_has(text.data, "\"bytes\":%" PRIu64 ",", bytes);
    struct buffer index = file_read("set.rmx");
    assert_has(text.data, "\"index_bytes\":%zu,", index.size);
    buffer_deinit(&index);
    assert_has(text.data, "\"damaged_bytes\":%" PRIu64, info->damaged_byte_count);
    assert_has(text.data, "{\"name\":\"id\",\"count\":%" PRIu64 ",\"records_without\":%" PRIu64 ",",
               info->id_count, 150 - info->id_count);
    assert_has(text.data, "{\"name\":\"@length\",\"type\":\"int64\"}");
    assert_has(text.data, "{\"name\":\"score\",\"type\":\"float\",\"default\":\"-0.5\"}");
    for (size_t i = 0; i < set.damage_count; i++)
        assert_has(text.data,
                   "{\"path\":\"s%05zu\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",\"reason\":",
                   set.damages[i].shard, set.damages[i].offset, set.damages[i].length);
    char hex[33];
    for (size_t i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", info->fingerprint.bytes[i]);
    assert_has(text.data, "\"fingerprint\":\"%s\"", hex);
    recmap_text_deinit(&text);
    recmap_dataset_close(dataset);
    known_deinit(&set);
}

/* Names that JSON must escape. */
static void test_names_in_json(void **state) {
    (void)state;
    const char *name = "a\"b\\c\nd\x80\xfe";
    struct buffer shard = BUFFER_INIT;
    oracle_add_record(&shard, "x", 1);
    index_bytes("set.rmx", NULL, name, &shard);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text text = RECMAP_TEXT_INIT;
    ASSERT_OK(recmap_dataset_info_to_json(&text, dataset, 1, &error), &error);
    assert_json(text.data, text.size);
    recmap_record record;
    ASSERT_OK(recmap_dataset_get(&record, dataset, 0, &error), &error);
    recmap_record_release(&record);
    recmap_text_deinit(&text);
    recmap_dataset_close(dataset);
    buffer_deinit(&shard);
}

/* The fingerprint knows bytes, not names, places or times. */
static void test_the_fingerprint_depends_on_bytes_alone(void **state) {
    (void)state;
    struct known set = make_set(false, 7);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_fingerprint before = recmap_dataset_get_info(dataset)->fingerprint;
    recmap_dataset_close(dataset);
    const char *renamed[] = {"r0", "r1", "r2", "r3"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rename(shard_names(4)[i], renamed[i]), 0);
        file_set_time(renamed[i], 12345);
    }
    index_build("other.rmx", NULL, renamed, 4);
    dataset = dataset_open("other.rmx", NULL);
    recmap_fingerprint after = recmap_dataset_get_info(dataset)->fingerprint;
    recmap_dataset_close(dataset);
    assert_memory_equal(before.bytes, after.bytes, 16);
    const char *turned[] = {"r1", "r0", "r2", "r3"};
    index_build("other.rmx", NULL, turned, 4);
    dataset = dataset_open("other.rmx", NULL);
    after = recmap_dataset_get_info(dataset)->fingerprint;
    recmap_dataset_close(dataset);
    assert_memory_not_equal(before.bytes, after.bytes, 16);
    known_deinit(&set);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(a_sound_set_has_no_new_damage),
        TEST(a_flipped_byte_damages_its_record),
        TEST(order_of_findings),
        TEST(index_only_reads_no_shard),
        TEST(progress_can_cancel_verifying),
        TEST(info_as_json),
        TEST(names_in_json),
        TEST(the_fingerprint_depends_on_bytes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
