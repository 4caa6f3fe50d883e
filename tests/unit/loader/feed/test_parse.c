/* Batches that come parsed: the columns have the values of their records, and a record that cannot
 * be parsed is raised at its place, left out or replaced like one that is damaged. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 100, BATCH = 8 };

/* Record i has label 3 * i and the text "t<i>"; record `bad` has no label, and record `broken` is
 * not an Example. */
static void write_set(uint64_t on_bad_record, uint64_t broken) {
    struct buffer shard = BUFFER_INIT;
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct buffer features = BUFFER_INIT, record = BUFFER_INIT;
        char text[24];
        snprintf(text, sizeof text, "t%llu", (unsigned long long)i);
        features_add_text(&features, "text", text);
        if (i != on_bad_record) features_add_int64(&features, "label", (int64_t)i * 3);
        features_end(&record, &features);
        if (i == broken) record.data[1]++;
        recmap_frame frame = recmap_frame_of(record.data, record.size);
        buffer_add(&shard, frame.header, sizeof frame.header);
        buffer_add(&shard, record.data, record.size);
        buffer_add(&shard, frame.footer, sizeof frame.footer);
        buffer_deinit(&features);
        buffer_deinit(&record);
    }
    index_bytes("set.rmx", NULL, "shard", &shard);
    buffer_deinit(&shard);
}

static recmap_parser *make_parser(void) {
    const recmap_feature features[] = {
        {.name = "label", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
        {.name = "text", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_BYTES}};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser;
    ASSERT_OK(recmap_parser_create(&parser, features, 2, &error), &error);
    return parser;
}

static recmap_loader *make_loader(recmap_dataset *dataset, recmap_order *order,
                                  recmap_on_bad_record policy) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = BATCH;
    options.thread_count = 2;
    options.on_bad_record = policy;
    options.parser = make_parser();
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_parser_release(options.parser); /* the loader has it */
    return loader;
}

static void assert_columns(const recmap_batch *batch) {
    const recmap_columns *columns = recmap_batch_columns(batch);
    assert_non_null(columns);
    assert_int_equal(recmap_columns_row_count(columns), recmap_batch_count(batch));
    const recmap_column *label = recmap_columns_find(columns, "label");
    const recmap_column *text = recmap_columns_find(columns, "text");
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        uint64_t number = recmap_batch_records(batch)[i].number;
        char due[24];
        int size = snprintf(due, sizeof due, "t%llu", (unsigned long long)number);
        assert_int_equal(((const int64_t *)label->values)[i], number * 3);
        assert_int_equal(text->offsets[0][i], i);
        assert_int_equal(text->views[i].size, size);
        assert_memory_equal(text->views[i].data, due, (size_t)size);
    }
}

static void test_columns_have_the_values_of_their_records(void **unused) {
    (void)unused;
    write_set(RECORDS, RECORDS);
    for (int access = 0; access < 3; access++) {
        recmap_dataset_options opened = RECMAP_DATASET_OPTIONS_INIT;
        opened.access = (recmap_access)access;
        recmap_dataset *dataset = dataset_open("set.rmx", &opened);
        recmap_order *order = order_of_kind(0, RECORDS, 5);
        recmap_loader *loader = make_loader(dataset, order, RECMAP_ON_BAD_RECORD_ERROR);
        recmap_batch *batch = NULL;
        size_t seen = 0;
        for (next_batch(&batch, loader); batch; next_batch(&batch, loader)) {
            assert_columns(batch);
            seen += recmap_batch_count(batch);
        }
        assert_int_equal(seen, RECORDS);
        loader_close(loader, order, dataset);
    }
}

/* The columns have the values of the current records, or are empty. */
static void test_gather_after_parse(void **unused) {
    (void)unused;
    write_set(RECORDS, RECORDS);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_parser *parser = make_parser();
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    const uint64_t numbers[] = {7, 3, 7, 99};
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    assert_null(recmap_batch_columns(batch));
    ASSERT_OK(recmap_dataset_parse(batch, dataset, parser, numbers, 4, RECMAP_PARSE_RAISE, &error),
              &error);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(recmap_batch_records(batch)[i].number, numbers[i]);
    assert_columns(batch);
    ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, 2, &error), &error);
    assert_null(recmap_batch_columns(batch));
    recmap_batch_destroy(batch);
    recmap_parser_release(parser);
    recmap_dataset_close(dataset);
}

static uint64_t shard_byte(recmap_dataset *dataset, uint64_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_location place;
    ASSERT_OK(recmap_dataset_locate(&place, dataset, number, 1, &error), &error);
    return place.offset + 12;
}

/* Both ways to be bad are raised with shard, record and byte of the shard, at their place. */
static void test_bad_records_are_raised_at_their_place(void **unused) {
    (void)unused;
    enum { BAD = 41, BROKEN = 86 };
    for (int broken = 0; broken < 2; broken++) {
        write_set(broken ? RECORDS : BAD, broken ? BROKEN : RECORDS);
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        recmap_order *order = order_of_kind(0, RECORDS, 5);
        recmap_loader *loader = make_loader(dataset, order, RECMAP_ON_BAD_RECORD_ERROR);
        recmap_error error = RECMAP_ERROR_INIT;
        uint64_t number = broken ? BROKEN : BAD, position;
        ASSERT_OK(recmap_order_position_of(&position, order, 0, number, &error), &error);
        recmap_batch *batch = NULL;
        for (uint64_t i = 0; i < position / BATCH; i++) next_batch(&batch, loader);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(recmap_loader_next(&batch, loader, &error),
                             broken ? RECMAP_CORRUPT : RECMAP_FEATURE);
            assert_int_equal(error.record, number);
            assert_string_equal(error.path, "shard");
            assert_true(error.offset >= shard_byte(dataset, number) &&
                        (error.offset < shard_byte(dataset, number + 1)));
        }
        if (!broken) assert_non_null(strstr(error.message, "label"));
        assert_stands_at(loader, 0, position / BATCH * BATCH);
        recmap_batch_destroy(batch);
        loader_close(loader, order, dataset);
    }
}

/* One record has damaged bytes and another a feature of the wrong type. Both are handled by the
 * same policy, and both are listed. */
static void check_policy(recmap_on_bad_record policy, uint64_t kept_count) {
    enum { BAD = 41, BROKEN = 86 };
    write_set(BAD, BROKEN);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_order *order = order_of_kind(0, RECORDS, 5);
    recmap_loader *loader = make_loader(dataset, order, policy);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    size_t seen = 0;
    for (next_batch(&batch, loader); batch; next_batch(&batch, loader)) {
        assert_columns(batch);
        seen += recmap_batch_count(batch);
    }
    assert_int_equal(seen, kept_count);
    recmap_skipped skipped[4];
    size_t count;
    ASSERT_OK(recmap_loader_get_skipped(skipped, 4, &count, loader, 0, &error), &error);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(skipped[i].number == BAD || skipped[i].number == BROKEN);
        assert_int_equal(skipped[i].substitute == RECMAP_NO_RECORD,
                         policy == RECMAP_ON_BAD_RECORD_SKIP);
    }
    assert_int_not_equal(skipped[0].number, skipped[1].number);
    loader_close(loader, order, dataset);
}

static void test_bad_records_are_left_out(void **unused) {
    (void)unused;
    check_policy(RECMAP_ON_BAD_RECORD_SKIP, RECORDS - 2);
}

static void test_bad_records_are_replaced(void **unused) {
    (void)unused;
    check_policy(RECMAP_ON_BAD_RECORD_SUBSTITUTE, RECORDS);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(columns_have_the_values_of_their_records),
        TEST(gather_after_parse),
        TEST(bad_records_are_raised_at_their_place),
        TEST(bad_records_are_left_out),
        TEST(bad_records_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
