/* Rows cut from records: every stretch of a list is what decoding the whole list gives, however the
 * record is encoded, and errors name the record. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/varints/skip_varints.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/random.h"

enum { RECORDS = 40, LONGEST = 300, LONG_RECORD = 6 };

/* Elements of the long record; 0: it is like the others. */
static uint64_t long_count;

static size_t varint_write(uint8_t *out, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

static void add_varint(struct buffer *out, uint64_t value) {
    uint8_t bytes[10];
    buffer_add(out, bytes, varint_write(bytes, value));
}

static void add_field(struct buffer *out, uint32_t number, const struct buffer *body) {
    add_varint(out, number << 3 | 2);
    add_varint(out, body->size);
    buffer_add(out, body->data, body->size);
}

/* ---- Skipping. */

static void test_varints_are_skipped_by_count(void **unused) {
    (void)unused;
    struct rng random = {7};
    for (int round = 0; round < 300; round++) {
        uint8_t bytes[4000];
        size_t ends[400], count = rng_below(&random, 400), size = 0;
        for (size_t i = 0; i < count; i++) {
            size += varint_write(bytes + size, rng_next(&random) >> rng_below(&random, 64));
            ends[i] = size;
        }
        uint8_t *exact = must_realloc(NULL, size + 1); /* so that a sanitizer sees the end */
        memcpy(exact, bytes, size);
        exact = must_realloc(exact, size ? size : 1);
        for (size_t i = 0; i <= count + 1; i++) {
            size_t expected = i > count ? SIZE_MAX : i ? ends[i - 1] : 0;
            assert_int_equal(skip_varints(exact, size, i), expected);
            assert_int_equal(skip_varints_portable(exact, size, i), expected);
        }
        free(exact);
    }
}

/* ---- Rows. */

static uint64_t count_of(uint64_t record) {
    if (record == LONG_RECORD && long_count) return long_count;
    struct rng random = {record + 1};
    return record % 5 == 3 ? 0 : 1 + rng_below(&random, LONGEST);
}

static int64_t token_of(uint64_t record, uint64_t i) {
    struct rng random = {record * 1000 + i};
    uint64_t bits = rng_next(&random);
    return (int64_t)(bits >> bits % 64);
}

/* The tokens as a packed run, as a run that is divided, or as single values. */
static void add_tokens(struct buffer *list, uint64_t record) {
    struct buffer run = BUFFER_INIT;
    for (uint64_t i = 0; i < count_of(record); i++) {
        if (record % 3 == 2) add_varint(list, 1 << 3);
        add_varint(record % 3 == 2 ? list : &run, (uint64_t)token_of(record, i));
        if (record % 3 != 1 || i != 20) continue;
        add_field(list, 1, &run);
        run.size = 0;
    }
    if (record % 3 != 2) add_field(list, 1, &run);
    buffer_deinit(&run);
}

static void add_feature(struct buffer *features, const char *name, uint32_t kind,
                        const struct buffer *list) {
    struct buffer key = BUFFER_INIT, value = BUFFER_INIT, entry = BUFFER_INIT;
    buffer_add(&key, name, strlen(name));
    add_field(&value, kind, list);
    add_field(&entry, 1, &key);
    add_field(&entry, 2, &value);
    add_field(features, 1, &entry);
    buffer_deinit(&key);
    buffer_deinit(&value);
    buffer_deinit(&entry);
}

static void add_record(struct buffer *shard, uint64_t record) {
    struct buffer features = BUFFER_INIT, example = BUFFER_INIT, list = BUFFER_INIT,
                  name = BUFFER_INIT;
    buffer_add(&name, "text", 4);
    add_field(&list, 1, &name);
    add_feature(&features, "name", 1, &list);
    list.size = 0;
    add_tokens(&list, record);
    if (count_of(record)) add_feature(&features, "tokens", 3, &list);
    add_field(&example, 1, &features);
    recmap_frame frame = recmap_frame_of(example.data, example.size);
    buffer_add(shard, frame.header, sizeof frame.header);
    buffer_add(shard, example.data, example.size);
    buffer_add(shard, frame.footer, sizeof frame.footer);
    buffer_deinit(&features);
    buffer_deinit(&example);
    buffer_deinit(&list);
    buffer_deinit(&name);
}

static recmap_dataset *make_set(const recmap_dataset_options *options) {
    struct buffer shard = BUFFER_INIT;
    for (uint64_t i = 0; i < RECORDS; i++) add_record(&shard, i);
    index_bytes("set.rmx", NULL, "shard", &shard);
    buffer_deinit(&shard);
    return dataset_open("set.rmx", options);
}

/* `wrong` is a record with one count too many, or RECORDS. */
static recmap_counts *make_counts(uint64_t wrong_record) {
    uint64_t values[RECORDS];
    recmap_counts *counts;
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < RECORDS; i++) values[i] = count_of(i) + (i == wrong_record);
    ASSERT_OK(recmap_counts_create(&counts, values, sizeof *values, RECORDS, &error), &error);
    return counts;
}

enum { CHUNKED, PACKED, WINDOWS, KINDS };

static recmap_order *make_order(int kind, uint64_t size, uint64_t add, uint64_t wrong_record) {
    recmap_counts *counts = make_counts(wrong_record);
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_chunked_options chunked = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packed = RECMAP_PACKED_OPTIONS_INIT;
    recmap_windows_options windows = RECMAP_WINDOWS_OPTIONS_INIT;
    chunked.size = packed.size = windows.size = size;
    chunked.add = packed.add = add;
    chunked.last = RECMAP_TAIL_PAD;
    windows.pad_before = windows.pad_after = size / 2;
    windows.stride = 5;
    if (kind == CHUNKED) ASSERT_OK(recmap_order_chunked(&order, counts, &chunked, &error), &error);
    if (kind == PACKED) ASSERT_OK(recmap_order_packed(&order, counts, &packed, &error), &error);
    if (kind == WINDOWS) ASSERT_OK(recmap_order_windows(&order, counts, &windows, &error), &error);
    recmap_counts_release(counts);
    return order;
}

enum { FIRST_TOKEN = -1, LAST_TOKEN = -2, PAD = -3 };

static recmap_parser *make_parser(const char *name, uint64_t add) {
    const recmap_value first = int64_value(FIRST_TOKEN), last = int64_value(LAST_TOKEN);
    const recmap_value fill = int64_value(PAD);
    const recmap_feature feature = {.name = name,
                                    .kind = RECMAP_FEATURE_SLICED,
                                    .element = RECMAP_ELEMENT_INT64,
                                    .defaults = &fill,
                                    .default_count = 1,
                                    .prepend = &first,
                                    .prepend_count = add > 0,
                                    .append = &last,
                                    .append_count = add > 1};
    recmap_parser *parser;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_parser_create(&parser, &feature, 1, &error), &error);
    return parser;
}

static int64_t element_of(const recmap_piece *piece, uint64_t i, uint64_t add) {
    if (add > 0 && i == 0) return FIRST_TOKEN;
    if (add > 1 && i == piece->length - 1) return LAST_TOKEN;
    return token_of(piece->record, i - (add > 0));
}

/* Compares the columns of a batch with its pieces. */
static void check_batch(const recmap_batch *batch, uint64_t add) {
    const recmap_pieces *pieces = recmap_batch_pieces(batch);
    const recmap_column *column = recmap_columns_get(recmap_batch_columns(batch), 0);
    uint64_t width = recmap_batch_row_width(batch), rows = pieces->row_count;
    const int64_t *values = column->values;
    assert_int_equal(column->row_count, rows);
    assert_int_equal(column->dimension_count, 2);
    assert_int_equal(column->shape[1], width);
    int32_t *segments = must_realloc(NULL, (rows * width + 1) * sizeof *segments);
    uint8_t *mask = must_realloc(NULL, rows * width + 1);
    recmap_pieces_segments(segments, pieces, width);
    recmap_pieces_mask(mask, pieces, width);
    size_t i = 0, filled = 0;
    for (uint64_t row = 0; row < rows; row++) {
        for (size_t first = i; i < pieces->ends[row]; i++) {
            const recmap_piece *piece = &pieces->items[i];
            for (uint64_t j = 0; j < piece->count; j++, filled++) {
                uint64_t at = row * width + piece->place + j;
                assert_int_equal(values[at], element_of(piece, piece->first + j, add));
                assert_int_equal(segments[at], i - first + 1);
            }
        }
    }
    for (uint64_t at = 0; at < rows * width; at++) {
        assert_int_equal(mask[at], segments[at] > 0);
        filled += !mask[at];
        if (!mask[at]) assert_int_equal(values[at], PAD);
    }
    assert_int_equal(filled, rows * width);
    free(segments);
    free(mask);
}

static void check_order(recmap_dataset *dataset, int kind, uint64_t size, uint64_t add) {
    recmap_order *order = make_order(kind, size, add, RECORDS);
    recmap_parser *parser = make_parser("tokens", add);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    assert_null(recmap_batch_pieces(batch));
    for (uint64_t first = 0; first < recmap_order_count(order); first += 7) {
        uint64_t positions[7], count = 0;
        for (; count < 7 && first + count < recmap_order_count(order); count++)
            positions[count] = first + count;
        ASSERT_OK(recmap_dataset_rows(batch, dataset, order, parser, 1, positions, count, &error),
                  &error);
        check_batch(batch, add);
    }
    recmap_batch_destroy(batch);
    recmap_parser_release(parser);
    recmap_order_release(order);
}

static void test_rows_have_their_elements(void **unused) {
    (void)unused;
    for (int access = 0; access < 3; access++) {
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.access = (recmap_access)access;
        recmap_dataset *dataset = make_set(&options);
        for (uint64_t add = 0; add < 3; add++) {
            check_order(dataset, CHUNKED, 100, add);
            check_order(dataset, PACKED, 64, add);
        }
        check_order(dataset, CHUNKED, 1, 0);
        check_order(dataset, WINDOWS, 16, 0);
        recmap_dataset_close(dataset);
    }
}

static void *read_rows(void *dataset) {
    check_order(dataset, CHUNKED, 700, 2);
    return NULL;
}

/* A long record is read as a whole once. What is known of it then is shared by all threads. */
static void test_a_long_record_is_read_whole_once(void **unused) {
    (void)unused;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = RECMAP_ACCESS_READ;
    long_count = 60000;
    recmap_dataset *dataset = make_set(&options);
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_rows, dataset), 0);
    for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    check_order(dataset, PACKED, 500, 1);
    recmap_dataset_close(dataset);
    long_count = 0;
}

/* Checks the records of a batch of rows: each is complete, or has no data. Returns how many have
 * none, and checks that these are not exported. */
static size_t check_records(const recmap_batch *batch, recmap_dataset *dataset) {
    const recmap_record *records = recmap_batch_records(batch);
    recmap_error error = RECMAP_ERROR_INIT;
    size_t missing_count = 0;
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        recmap_record whole;
        ASSERT_OK(recmap_dataset_get(&whole, dataset, records[i].number, &error), &error);
        assert_int_equal(records[i].size, whole.size);
        if (records[i].data) {
            assert_memory_equal(records[i].data, whole.data, whole.size);
        } else {
            struct ArrowArray array;
            struct ArrowSchema schema;
            missing_count++;
            assert_int_equal(
                recmap_records_export_arrow(&array, &schema, &records[i], 1, NULL, NULL, &error),
                RECMAP_INVALID);
            assert_int_equal(error.record, records[i].number);
            assert_non_null(strstr(error.message, "only in part"));
        }
        recmap_record_release(&whole);
    }
    return missing_count;
}

/* Reads rows in two batches. The long record is read as a whole for the first, and by some kinds of
 * access in part for the second. Returns how often it had no data in the second. */
static size_t count_missing(recmap_access access, uint64_t add) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = access;
    recmap_dataset *dataset = make_set(&options);
    recmap_order *order = make_order(PACKED, 500, add, RECORDS);
    recmap_parser *parser = make_parser("tokens", add);
    uint64_t count = recmap_order_count(order), positions[200];
    size_t missing_count = 0;
    recmap_batch *batch;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    assert_in_range(count, 100, 200);
    for (uint64_t i = 0; i < count; i++) positions[i] = i;
    for (int round = 0; round < 2; round++) {
        ASSERT_OK(
            recmap_dataset_rows(batch, dataset, order, parser, 0, positions, count / 2 + 1, &error),
            &error);
        check_batch(batch, add);
        missing_count = check_records(batch, dataset);
        if (!round) assert_int_equal(missing_count, 0);
    }
    recmap_batch_destroy(batch);
    recmap_parser_release(parser);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return missing_count;
}

/* A batch never gives memory that was not read as the data of a record. */
static void test_partly_read_records_have_no_data(void **unused) {
    (void)unused;
    long_count = 60000;
    for (uint64_t add = 0; add < 2; add++) {
        assert_int_equal(count_missing(RECMAP_ACCESS_MAP, add), 0);
        assert_int_equal(count_missing(RECMAP_ACCESS_READ, add), 1);
        assert_int_equal(count_missing(RECMAP_ACCESS_DIRECT, add), 1);
    }
    long_count = 0;
}

/* Reads all rows in one call, which fails; returns the status. */
static recmap_status read_all(recmap_error *error, recmap_dataset *dataset, recmap_order *order,
                              recmap_parser *parser) {
    size_t count = recmap_order_count(order);
    uint64_t *positions = must_realloc(NULL, (count + 1) * sizeof *positions);
    for (size_t i = 0; i < count; i++) positions[i] = i;
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, error), error);
    recmap_status status =
        recmap_dataset_rows(batch, dataset, order, parser, 0, positions, count, error);
    assert_int_equal(recmap_batch_count(batch), 0);
    assert_null(recmap_batch_pieces(batch));
    recmap_batch_destroy(batch);
    recmap_parser_release(parser);
    recmap_order_release(order);
    free(positions);
    return status;
}

static recmap_order *order_of_more_records(void) {
    const uint64_t values[RECORDS + 1] = {[RECORDS] = 20};
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_counts *counts;
    recmap_order *order;
    recmap_error error = RECMAP_ERROR_INIT;
    options.size = 16;
    ASSERT_OK(recmap_counts_create(&counts, values, sizeof *values, RECORDS + 1, &error), &error);
    ASSERT_OK(recmap_order_chunked(&order, counts, &options, &error), &error);
    recmap_counts_release(counts);
    return order;
}

static void test_errors_name_record_and_feature(void **unused) {
    (void)unused;
    recmap_dataset *dataset = make_set(NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    for (int kind = 0; kind < KINDS; kind++) {
        for (uint64_t wrong = 0; wrong < 6; wrong++) {
            recmap_order *order = make_order(kind, 16, 0, wrong);
            assert_int_equal(read_all(&error, dataset, order, make_parser("tokens", 0)),
                             RECMAP_FEATURE);
            assert_int_equal(error.record, wrong);
            assert_string_equal(error.path, "shard");
            assert_non_null(strstr(error.message, wrong == 3 ? "is missing" : "the counts"));
        }
    }
    recmap_order *order = make_order(CHUNKED, 16, 0, RECORDS);
    assert_int_equal(read_all(&error, dataset, order, make_parser("tokens", 1)), RECMAP_INVALID);
    order = make_order(CHUNKED, 16, 0, RECORDS);
    assert_int_equal(read_all(&error, dataset, order, make_parser("name", 0)), RECMAP_FEATURE);
    order = make_order(CHUNKED, (uint64_t)1 << 31, 0, RECORDS);
    assert_int_equal(read_all(&error, dataset, order, make_parser("tokens", 0)), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "2147483648 elements has 2^31 values or more"));
    ASSERT_OK(recmap_order_sequential(&order, RECORDS, &error), &error);
    assert_int_equal(read_all(&error, dataset, order, make_parser("tokens", 0)), RECMAP_INVALID);
    order = order_of_more_records();
    assert_int_equal(read_all(&error, dataset, order, make_parser("tokens", 0)), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "covers 41 records, but the data set has 40"));
    recmap_dataset_close(dataset);
}

/* Changes a byte of each record of the set that no token depends on. */
static void damage_names(void) {
    static const char name[] = "text";
    size_t size = 0, damaged = 0;
    FILE *file = fopen("shard", "r+b");
    assert_non_null(file);
    for (int byte; (byte = getc(file)) != EOF;) {
        size = byte == name[size] ? size + 1 : byte == name[0];
        if (size < sizeof name - 1) continue;
        assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
        assert_int_equal(putc('T', file), 'T');
        assert_int_equal(fseek(file, 0, SEEK_CUR), 0);
        damaged++;
        size = 0;
    }
    assert_int_equal(damaged, RECORDS);
    assert_int_equal(fclose(file), 0);
}

static bool has_whole_record(const recmap_order *order, uint64_t position) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    bool has_whole = false;
    ASSERT_OK(recmap_order_pieces(&pieces, order, 0, &position, 1, &error), &error);
    for (size_t i = 0; i < pieces.count; i++)
        has_whole |= pieces.items[i].count == pieces.items[i].length;
    recmap_pieces_deinit(&pieces);
    return has_whole;
}

/* Reads each row of an epoch by itself. Returns how many have damaged records. With `once`, these
 * are the rows that hold a whole record. */
static size_t count_damaged(recmap_dataset *dataset, const recmap_order *order, bool once) {
    recmap_parser *parser = make_parser("tokens", 0);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    size_t damaged = 0;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    for (uint64_t i = 0; i < recmap_order_count(order); i++) {
        recmap_status status = recmap_dataset_rows(batch, dataset, order, parser, 0, &i, 1, &error);
        if (status != RECMAP_OK) assert_int_equal(status, RECMAP_CORRUPT);
        if (once) assert_int_equal(status == RECMAP_OK, !has_whole_record(order, i));
        damaged += status != RECMAP_OK;
    }
    recmap_batch_destroy(batch);
    recmap_parser_release(parser);
    return damaged;
}

/* The checksum of a record is checked once for all rows that hold parts of it, and for each row
 * that holds it as a whole. Unless the shard is mapped, it is checked for every row. */
static void test_cut_records_are_checked_once(void **unused) {
    (void)unused;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        options.access = (recmap_access)access;
        recmap_dataset *dataset = make_set(&options);
        recmap_order *order = make_order(CHUNKED, 100, 0, RECORDS);
        size_t row_count = (size_t)recmap_order_count(order);
        bool is_mapped = access == RECMAP_ACCESS_MAP;
        assert_int_equal(count_damaged(dataset, order, false), 0);
        damage_names();
        size_t damaged = count_damaged(dataset, order, is_mapped);
        if (is_mapped) assert_in_range(damaged, 1, row_count - 1);
        else assert_int_equal(damaged, row_count);
        recmap_dataset_close(dataset);
        dataset = dataset_open("set.rmx", &options);
        assert_int_equal(count_damaged(dataset, order, false), row_count);
        recmap_order_release(order);
        recmap_dataset_close(dataset);
    }
}

/* Sequences: pieces and paddings, which cover the array. */
static void test_sequences_cover_the_array(void **unused) {
    (void)unused;
    recmap_piece items[] = {{0, 0, 3, 0, 3}, {1, 5, 2, 3, 9}, {2, 0, 4, 2, 4}};
    size_t ends[] = {2, 3};
    recmap_pieces pieces = {items, 3, ends, 2, 3, 2};
    int32_t offsets[9], longest;
    assert_true(recmap_pieces_sequence_max(&pieces) < 9);
    assert_int_equal(recmap_pieces_sequences(offsets, &longest, &pieces, 8), 6);
    const int32_t expected[] = {0, 3, 5, 8, 10, 14, 16};
    assert_memory_equal(offsets, expected, sizeof expected);
    assert_int_equal(longest, 4);
    assert_int_equal(recmap_pieces_sequences(offsets, &longest, &pieces, 4), 4);
    const int32_t narrow[] = {0, 3, 4, 6, 8};
    assert_memory_equal(offsets, narrow, sizeof narrow);
    assert_int_equal(recmap_pieces_sequences(offsets, &longest, &pieces, 0), 0);
    int32_t positions[16];
    recmap_pieces_positions(positions, &pieces, 8, RECMAP_POSITION_IN_RECORD);
    const int32_t in_record[] = {0, 1, 2, 5, 6, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0};
    assert_memory_equal(positions, in_record, sizeof in_record);
    recmap_pieces_positions(positions, &pieces, 8, RECMAP_POSITION_IN_PIECE);
    const int32_t in_piece[] = {0, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0};
    assert_memory_equal(positions, in_piece, sizeof in_piece);
}

/* ---- Interrupts. */

struct questions {
    size_t count;
    size_t stop; /* the question that is answered with "stop", or SIZE_MAX */
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

/* Each row is wide enough to be asked about, although most of it is padding. */
static void test_cutting_rows_asks_the_interrupt(void **unused) {
    (void)unused;
    enum { WIDE = 256 << 10, ROWS = 5 };
    const uint64_t positions[ROWS] = {0};
    recmap_dataset *dataset = make_set(NULL);
    recmap_order *order = make_order(CHUNKED, WIDE, 0, RECORDS);
    recmap_parser *parser = make_parser("tokens", 0);
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    for (size_t stop = 0; stop <= ROWS; stop++) {
        struct questions questions = {0, stop};
        recmap_batch_set_interrupt(batch, answer, &questions);
        recmap_status status =
            recmap_dataset_rows(batch, dataset, order, parser, 0, positions, ROWS, NULL);
        assert_int_equal(status, stop < ROWS ? RECMAP_CANCELLED : RECMAP_OK);
        assert_int_equal(questions.count, stop < ROWS ? stop + 1 : ROWS);
    }
    recmap_batch_destroy(batch);
    recmap_parser_release(parser);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(varints_are_skipped_by_count),     TEST(rows_have_their_elements),
        TEST(a_long_record_is_read_whole_once), TEST(partly_read_records_have_no_data),
        TEST(errors_name_record_and_feature),   TEST(sequences_cover_the_array),
        TEST(cutting_rows_asks_the_interrupt),  TEST(cut_records_are_checked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
