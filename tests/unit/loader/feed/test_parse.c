/* Batches that come parsed: the columns have the values of their records, and a record that cannot
 * be parsed is raised at its place, left out or replaced like one that is damaged. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
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

/* A parser that finds some records bad, and notes where each record was when it was parsed. */
struct notes {
    atomic_uint counts[RECORDS]; /* how often each record was parsed */
    const uint8_t *last;         /* the bytes of the last bad record that was parsed */
    unsigned moved_count;        /* how often that was in other memory than the one before */
    bool all_are_bad;
};

static bool is_bad_to(const struct notes *notes, uint64_t number) {
    return notes->all_are_bad || number % 10 < 3;
}

static recmap_status note(recmap_row *row, const recmap_record *record, void *context) {
    struct notes *notes = context;
    notes->counts[record->number]++;
    if (!is_bad_to(notes, record->number)) {
        const int64_t number = (int64_t)record->number;
        return recmap_row_set_int64(row, 0, &number, 1);
    }
    notes->moved_count += record->data != notes->last;
    notes->last = record->data;
    return recmap_row_fail(row, 0, "is bad");
}

static recmap_loader *open_noting(recmap_dataset *dataset, recmap_order *order, struct notes *notes,
                                  recmap_on_bad_record policy) {
    static const recmap_feature number = {
        .name = "number", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = RECORDS;
    options.thread_count = 1;
    options.batches_ahead_epoch_limit = 1;
    options.on_bad_record = policy;
    ASSERT_OK(recmap_parser_create_custom(&options.parser, &number, 1, note, notes, &error),
              &error);
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_parser_release(options.parser);
    return loader;
}

/* Bad records do not make the loader parse the others again: parsing may be expensive, above all
 * that of a custom parser. */
static void test_good_records_are_parsed_once(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(RECORDS, 3, NULL);
    recmap_order *order = order_of_kind(1, RECORDS, 0);
    numbered_flip(dataset, 14); /* damaged: never parsed */
    for (int policy = RECMAP_ON_BAD_RECORD_SKIP; policy <= RECMAP_ON_BAD_RECORD_SUBSTITUTE;
         policy++) {
        struct notes notes = {.all_are_bad = false};
        recmap_loader *loader = open_noting(dataset, order, &notes, (recmap_on_bad_record)policy);
        recmap_batch *batch = NULL;
        next_batch(&batch, loader);
        const int64_t *numbers = recmap_columns_get(recmap_batch_columns(batch), 0)->values;
        for (size_t i = 0; i < recmap_batch_count(batch); i++)
            assert_int_equal(numbers[i], recmap_batch_records(batch)[i].number);
        for (uint64_t i = 0; i < RECORDS && policy == RECMAP_ON_BAD_RECORD_SKIP; i++)
            assert_int_equal(notes.counts[i], i != 14);
        /* Record 13 replaces 10, 11 and 12 too, and record 15 replaces 14. */
        if (policy == RECMAP_ON_BAD_RECORD_SUBSTITUTE) {
            assert_int_equal(recmap_batch_count(batch), RECORDS);
            assert_int_equal(notes.counts[13], 4);
            assert_int_equal(notes.counts[14], 0);
            assert_int_equal(notes.counts[15], 2);
            assert_int_equal(notes.counts[16], 1);
        }
        recmap_batch_destroy(batch);
        recmap_loader_destroy(loader);
    }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* If all records are bad, all of them are tried, but the batch does not keep all of them. */
static void test_tried_substitutes_share_memory(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(RECORDS, 3, NULL);
    recmap_order *order = order_of_kind(1, RECORDS, 0);
    struct notes notes = {.all_are_bad = true};
    recmap_loader *loader = open_noting(dataset, order, &notes, RECMAP_ON_BAD_RECORD_SUBSTITUTE);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_CORRUPT);
    assert_int_equal(error.record, 0);
    for (size_t i = 0; i < RECORDS; i++) assert_int_equal(notes.counts[i], 1);
    assert_true(notes.moved_count < 8); /* records have 8 to 60 bytes; room for them doubles */
    loader_close(loader, order, dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(columns_have_the_values_of_their_records),
        TEST(gather_after_parse),
        TEST(bad_records_are_raised_at_their_place),
        TEST(bad_records_are_left_out),
        TEST(bad_records_are_replaced),
        TEST(good_records_are_parsed_once),
        TEST(tried_substitutes_share_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
