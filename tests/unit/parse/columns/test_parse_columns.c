/* Columns beyond TensorFlow's cases: failures that are collected, errors of ragged and sparse rows,
 * raw bytes, owners, memory that is used again. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/parse/columns/parse_case.h"

static const recmap_feature mixed[] = {
    {.name = "id", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
    {.name = "d",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_BYTES,
     DEFAULTS({.type = RECMAP_TYPE_BYTES, .as.bytes = {(const uint8_t *)"none", 4}})},
    {.name = "v", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64},
    {.name = "s",
     .key = "v",
     .kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE,
     .element = RECMAP_ELEMENT_INT64},
    {.name = "r",
     .key = "v",
     .kind = RECMAP_FEATURE_RAGGED,
     .element = RECMAP_ELEMENT_INT64,
     PARTITIONS({RECMAP_PARTITION_ROW_LENGTHS, "n", 0})},
    {.name = "p",
     .key = "v",
     .kind = RECMAP_FEATURE_SPARSE,
     .element = RECMAP_ELEMENT_INT64,
     INDICES("x"),
     SIZES(9)},
};

/* Rows that cannot be read are null and leave their neighbours alone, wherever they fail: in the
 * first feature or, when most lists are read, in how one fits another. */
static void test_failures_are_collected(void **state) {
    (void)state;
    assert_int_equal(PARSE(mixed, COLLECT, "id=f:1", "id=i:1 v=i:1,2 n=i:0,2 x=i:5,3 d=b:here",
                           "v=i:1", "id=i:2 v=i:7,8,9 n=i:4 x=i:0,0,0",
                           "id=i:3 v=i:7,8,9 n=i:3 x=i:0,9,0", "id=i:4 v=i:3 n=i:1 x=i:8",
                           "id=i:5 v=i:1,2,3 n=i:3 x=i:1,2", "id=i:6 v=i:1 n=i:1 x=i:1,2"),
                     RECMAP_OK);
    expect_column(&parsing, "id", "[~0, 1, ~0, ~0, ~0, 4, ~0, ~0]");
    expect_column(&parsing, "d", "[~, here, ~, ~, ~, none, ~, ~]");
    expect_column(&parsing, "v", "[~[], [1, 2], ~[], ~[], ~[], [3], ~[], ~[]]");
    expect_column(&parsing, "s",
                  "[~[0, 0], [1, 2], ~[0, 0], ~[0, 0], ~[0, 0], [3, 0], ~[0, 0], ~[0, 0]] "
                  "lengths [0, 2, 0, 0, 0, 1, 0, 0]");
    expect_column(&parsing, "r", "[~[], [[], [1, 2]], ~[], ~[], ~[], [[3]], ~[], ~[]]");
    expect_column(&parsing, "p",
                  "[~[], [2, 1], ~[], ~[], ~[], [3], ~[], ~[]] indices [1, 3, 1, 5, 5, 8] "
                  "shape [8, 9]");
    static const struct {
        uint64_t row;
        const char *message;
    } expected[] = {
        {0, "feature 'id' holds float, but int64 was requested"},
        {2, "feature 'id' is missing and has no default"},
        {3, "feature 'r': its partition 'n' describes more than the 3 entries to split"},
        {4, "feature 'p': index 9 in 'x' is not in [0, 9)"},
        {6, "feature 'p': 3 values, and 2 indices in 'x'"},
        {7, "feature 'p': 1 value, and 2 indices in 'x'"},
    };
    assert_int_equal(recmap_columns_failure_count(parsing.columns), COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        recmap_failure failure = recmap_columns_failure(parsing.columns, i);
        assert_int_equal(failure.row, expected[i].row);
        assert_int_equal(failure.number, 1000 + expected[i].row);
        assert_int_equal(failure.status, RECMAP_FEATURE);
        assert_string_equal(failure.message, expected[i].message);
        if (expected[i].message[9] != 'p') continue;
        /* Not the values are to blame, but what says where they are. */
        const recmap_record *record = &batch.records[failure.row];
        assert_true(failure.offset + 3 <= record->size);
        assert_memory_equal(record->data + failure.offset, "\n\1x", 3);
    }
}

/* Parsing a record without what `feature` requests fails with `advice`. */
static void expect_advice(const recmap_feature *feature, const char *text, const char *advice) {
    const recmap_feature features[] = {*feature};
    assert_int_equal(PARSE(features, RAISE, text), RECMAP_FEATURE);
    assert_string_equal(parsing.error.advice, advice);
    end(NULL);
}

#define USE_INT64                                                                                  \
    "the feature is int64: use `.element = RECMAP_ELEMENT_INT64`, and convert the column if you "  \
    "need another type"
#define IF_MIXED                                                                                   \
    "; if `recmap schema --json --sample 0` says mixed, other records have another kind: write "   \
    "all in one kind"
#define USE_BYTES "the feature is bytes: use `.element = RECMAP_ELEMENT_BYTES`"

static void test_advice_for_lists_of_another_kind(void **state) {
    (void)state;
    recmap_feature feature = {.name = "a", .kind = VAR, .element = RECMAP_ELEMENT_FLOAT32};
    expect_advice(&feature, "a=i:1,2", USE_INT64 IF_MIXED);
    feature.element = RECMAP_ELEMENT_BYTES;
    expect_advice(&feature, "a=i:1,2", USE_INT64);
    feature.element = RECMAP_ELEMENT_INT32;
    expect_advice(&feature, "a=f:1",
                  "the feature is float: use `.element = RECMAP_ELEMENT_FLOAT32`, and convert the "
                  "column if you need another type" IF_MIXED);
    feature.raw = RECMAP_RAW_LITTLE_ENDIAN;
    expect_advice(&feature, "a=i:1", "the feature is int64: omit `.raw`");
    expect_advice(&feature, "a=f:1",
                  "the feature is float: omit `.raw`, and use `.element = RECMAP_ELEMENT_FLOAT32`");
    const recmap_feature ragged = RAGGED_OF("r", "v", I64, {RECMAP_PARTITION_ROW_SPLITS, "n", 0});
    expect_advice(&ragged, "v=b:12345678 n=i:0,1", USE_BYTES);
    expect_advice(&ragged, "v=i:1 n=f:0,1",
                  "the feature is float: partitions and indices must be int64");
}

/* Bytes may be elements as tf.io.decode_raw reads them, if their size fits the shape. */
static void test_advice_for_raw_bytes(void **state) {
    (void)state;
    const uint64_t shape[] = {2, 4};
    recmap_feature feature = {.name = "a",
                              .kind = RECMAP_FEATURE_FIXED_LEN,
                              .element = RECMAP_ELEMENT_UINT8,
                              .shape = shape,
                              .dimension_count = 2};
    const char *uint8_advice =
        "the feature is bytes: use `{.kind = RECMAP_FEATURE_FIXED_LEN, .element = "
        "RECMAP_ELEMENT_UINT8, .shape = (const uint64_t[]){2, 4}, .dimension_count = 2, .raw = "
        "RECMAP_RAW_LITTLE_ENDIAN}` if it holds raw uint8 values, or `.element = "
        "RECMAP_ELEMENT_BYTES`";
    expect_advice(&feature, "a=b:12345678", uint8_advice);
    expect_advice(&feature, "a=b:1234567", USE_BYTES);
    expect_advice(&feature, "a=b:12345678,12345678", USE_BYTES);
    feature.element = RECMAP_ELEMENT_INT64;
    expect_advice(&feature, "a=b:12345678", uint8_advice);
    feature.dimension_count = 0;
    expect_advice(&feature, "a=b:12345678",
                  "the feature is bytes: use `{.kind = RECMAP_FEATURE_FIXED_LEN, .element = "
                  "RECMAP_ELEMENT_INT64, .raw = RECMAP_RAW_LITTLE_ENDIAN}` if it holds raw int64 "
                  "values, or `.element = RECMAP_ELEMENT_BYTES`");
    feature.kind = VAR;
    feature.element = RECMAP_ELEMENT_INT16;
    expect_advice(&feature, "a=b:123456",
                  "the feature is bytes: use `{.kind = RECMAP_FEATURE_VAR_LEN, .element = "
                  "RECMAP_ELEMENT_INT16, .raw = RECMAP_RAW_LITTLE_ENDIAN}` if it holds raw int16 "
                  "values, or `.element = RECMAP_ELEMENT_BYTES`");
}

static void test_all_rows_fail(void **state) {
    (void)state;
    assert_int_equal(PARSE(mixed, COLLECT, "", "", ""), RECMAP_OK);
    expect_column(&parsing, "id", "[~0, ~0, ~0]");
    expect_column(&parsing, "r", "[~[], ~[], ~[]]");
    assert_int_equal(recmap_columns_failure_count(parsing.columns), 3);
    /* The next batch knows nothing of them. */
    text_batch_deinit(&batch);
    batch_add(&batch, "id=i:1", 0);
    assert_int_equal(recmap_parser_parse(parsing.columns, parsing.parser, batch.records, 1,
                                         RECMAP_PARSE_COLLECT, NULL),
                     RECMAP_OK);
    assert_int_equal(recmap_columns_failure_count(parsing.columns), 0);
    expect_column(&parsing, "id", "[1]");
}

/* One of three records is cut. Collecting leaves its row missing and reports the failure; the other
 * rows are parsed. */
static void test_damage_is_collected(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "a", .kind = VAR, .element = I64}};
    assert_int_equal(PARSE(features, COLLECT, "a=i:1,2", "a=i:3", "a=i:4"), RECMAP_OK);
    recmap_record records[3];
    memcpy(records, batch.records, sizeof records);
    records[1].size -= 2;
    assert_int_equal(recmap_parser_parse(parsing.columns, parsing.parser, records, 3,
                                         RECMAP_PARSE_COLLECT, &parsing.error),
                     RECMAP_OK);
    expect_column(&parsing, "a", "[[1, 2], ~[], [4]]");
    assert_int_equal(recmap_columns_failure(parsing.columns, 0).status, RECMAP_CORRUPT);
    assert_int_equal(recmap_parser_parse(parsing.columns, parsing.parser, records, 3,
                                         RECMAP_PARSE_RAISE, &parsing.error),
                     RECMAP_CORRUPT);
    assert_int_equal(parsing.error.record, 1001);
    assert_true(parsing.error.offset <= records[1].size);
    assert_true(parsing.error.advice[0]);
    assert_int_equal(recmap_columns_count(parsing.columns), 0);
}

/* A row in which one partition does not cut what it should. */
static void expect_uncut(recmap_partition_kind kind, const char *partition, const char *message) {
    const recmap_feature features[] = {RAGGED_OF("r", "v", I64, {kind, "n", 2})};
    char text[128], expected[256];
    snprintf(text, sizeof text, "v=i:1,2,3 n=i:%s", partition);
    snprintf(expected, sizeof expected, "feature 'r'%s", message);
    assert_int_equal(PARSE(features, RAISE, text), RECMAP_FEATURE);
    assert_string_equal(parsing.error.message, expected);
    /* The byte lies in the entry of what says the wrong thing. */
    const uint8_t *blamed = batch.records[0].data + parsing.error.offset;
    assert_true(parsing.error.offset + 3 <= batch.records[0].size);
    assert_memory_equal(blamed, kind == RECMAP_PARTITION_UNIFORM ? "\n\1v" : "\n\1n", 3);
    end(NULL);
}

static void test_partitions_that_do_not_cut(void **state) {
    (void)state;
    const recmap_partition_kind splits = RECMAP_PARTITION_ROW_SPLITS,
                                lengths = RECMAP_PARTITION_ROW_LENGTHS,
                                starts = RECMAP_PARTITION_ROW_STARTS,
                                limits = RECMAP_PARTITION_ROW_LIMITS,
                                ids = RECMAP_PARTITION_VALUE_ROW_IDS;
    expect_uncut(splits, "", ": its partition 'n' ends with 0, but there are 3 entries to split");
    expect_uncut(splits, "0", ": its partition 'n' ends with 0, but there are 3 entries to split");
    expect_uncut(splits, "1,3", ": its partition 'n' begins with 1, not 0");
    expect_uncut(splits, "0,2,1,3", ": its partition 'n' does not ascend: 1 after 2");
    expect_uncut(splits, "0,4",
                 ": its partition 'n' ends with 4, but there are 3 entries to split");
    expect_uncut(lengths, "1,1",
                 ": its partition 'n' ends with 2, but there are 3 entries to split");
    expect_uncut(lengths, "4,-1", ": its partition 'n' describes more than the 3 entries to split");
    expect_uncut(lengths, "1,-1,3", ": its partition 'n' has the length -1");
    expect_uncut(lengths, "9223372036854775807,9223372036854775807,5",
                 ": its partition 'n' describes more than the 3 entries to split");
    expect_uncut(starts, "", ": its partition 'n' ends with 0, but there are 3 entries to split");
    expect_uncut(starts, "1", ": its partition 'n' begins with 1, not 0");
    expect_uncut(starts, "0,4",
                 ": its partition 'n' ends with 4, but there are 3 entries to split");
    expect_uncut(starts, "0,-4", ": its partition 'n' does not ascend: -4 after 0");
    expect_uncut(limits, "-1,3", ": its partition 'n' does not ascend: -1 after 0");
    expect_uncut(limits, "1,2",
                 ": its partition 'n' ends with 2, but there are 3 entries to split");
    expect_uncut(ids, "0,1", ": its partition 'n' has 2 row numbers for 3 values");
    expect_uncut(ids, "0,2,1", ": its partition 'n' does not ascend: 1 after 2");
    expect_uncut(ids, "-1,0,0", ": its partition 'n' does not ascend: -1 after 0");
    expect_uncut(ids, "0,0,9223372036854775807",
                 ": its partition 'n' names row 9223372036854775807, too far past its 3 values");
    /* A few bytes must not ask for much memory. */
    expect_uncut(ids, "0,0,65539",
                 ": its partition 'n' names row 65539, too far past its 3 values");
    expect_uncut(RECMAP_PARTITION_UNIFORM, "", ": 3 values where uniform rows hold 2");
}

/* Rows that are empty at the end of row_ids cannot be told; those between can. */
static void test_empty_rows_between_others_are_kept(void **state) {
    (void)state;
    const recmap_feature features[] = {
        RAGGED_OF("r", "v", I64, {RECMAP_PARTITION_UNIFORM, NULL, 2},
                  {RECMAP_PARTITION_VALUE_ROW_IDS, "n", 0}),
        RAGGED_OF("s", "v", I64, {RECMAP_PARTITION_ROW_STARTS, "b", 0})};
    assert_int_equal(
        PARSE(features, RAISE, "v=i:1,2 n=i:2,3 b=i:0,0,2,2", "n=i: v=i:", "v=i:5,6 n=i:1,1 b=i:0"),
        RECMAP_OK);
    expect_column(&parsing, "r", "[[[[], []], [[1], [2]]], [], [[[], [5, 6]]]]");
    expect_column(&parsing, "s", "[[[], [1, 2], [], []], [], [[5, 6]]]");
    text_batch_deinit(&batch);
    batch_add(&batch, "v=i:5,6 n=i:0,2 b=i:0", 0);
    assert_int_equal(parse_record(batch.records), RECMAP_FEATURE);
    assert_string_equal(parsing.error.message, "feature 'r': its partition 'uniform' of 2 does not "
                                               "divide the 3 entries to split");
}

/* Duplicates stay in the order in which they come. */
static void test_sparse_duplicates_keep_their_order(void **state) {
    (void)state;
    recmap_feature features[] = {{.name = "s",
                                  .key = "v",
                                  .kind = SPARSE,
                                  .element = RECMAP_ELEMENT_INT8,
                                  INDICES("x", "y"),
                                  SIZES(5, 5)},
                                 {.name = "t",
                                  .key = "v",
                                  .kind = SPARSE,
                                  .element = RECMAP_ELEMENT_INT8,
                                  INDICES("x", "y"),
                                  SIZES(5, 5),
                                  .already_sorted = 1}};
    assert_int_equal(PARSE(features, RAISE, "v=i:1 x=i:4 y=i:0",
                           "v=i:1,2,3,4,5,6,7 x=i:1,0,1,0,1,0,0 y=i:1,1,1,4,0,1,0"),
                     RECMAP_OK);
    expect_column(&parsing, "s",
                  "[[1], [7, 2, 6, 4, 5, 1, 3]] indices [0, 4, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, "
                  "4, 1, 1, 0, 1, 1, 1, 1, 1, 1] shape [2, 5, 5]");
    expect_column(&parsing, "t",
                  "[[1], [1, 2, 3, 4, 5, 6, 7]] indices [0, 4, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, "
                  "4, 1, 1, 0, 1, 0, 1, 1, 0, 0] shape [2, 5, 5]");
}

/* Many values in one row, against a sort of the C library. */
struct point {
    int64_t x, value;
};

static int compare_points(const void *left, const void *right) {
    const struct point *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Sparse indices in random order, from none to several hundred. Entries must come out sorted by
 * index, compared with a simple sort. */
static void test_sparse_order_of_many(void **state) {
    (void)state;
    enum { LIMIT = 700 };
    const recmap_feature features[] = {
        {.name = "s", .key = "v", .kind = SPARSE, .element = I64, INDICES("x"), SIZES(50)}};
    uint64_t random = 7;
    assert_int_equal(PARSE(features, RAISE, ""), RECMAP_OK);
    for (size_t count = 0; count <= LIMIT; count += count < 40 ? 1 : 47) {
        int64_t values[LIMIT], x[LIMIT];
        struct point points[LIMIT];
        struct message map, whole;
        map.size = whole.size = 0;
        for (size_t i = 0; i < count; i++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            values[i] = (int64_t)i;
            x[i] = (int64_t)(random >> 33) % 50;
            points[i] = (struct point){x[i], values[i]};
        }
        put_int64s(&map, "v", values, count);
        put_int64s(&map, "x", x, count);
        put_sub(&whole, 1, &map);
        const recmap_record record = {.data = whole.data, .size = whole.size};
        assert_int_equal(parse_record(&record), RECMAP_OK);
        const recmap_column *column = recmap_columns_get(parsing.columns, 0);
        qsort(points, count, sizeof *points, compare_points);
        assert_int_equal(column->value_count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(((const int64_t *)column->values)[i], points[i].value);
            assert_int_equal(column->indices[2 * i], 0);
            assert_int_equal(column->indices[2 * i + 1], points[i].x);
        }
    }
}

/* Raw bytes in fixed-length, variable-length and sequence columns of different element types. */
static void test_raw_bytes_become_elements(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "fixed",
         .key = "b",
         .kind = FIXED,
         .element = RECMAP_ELEMENT_UINT16,
         SHAPE(2),
         .raw = 1,
         DEFAULTS(INT64(7))},
        {.name = "var", .key = "b", .kind = VAR, .element = RECMAP_ELEMENT_INT8, .raw = 1},
        {.name = "steps",
         .key = "b",
         .kind = SEQUENCE,
         .element = RECMAP_ELEMENT_UINT8,
         SHAPE(2),
         .raw = 1},
    };
    assert_int_equal(PARSE(features, RAISE, "b=b:AaBb", "", "b=?"), RECMAP_OK);
    expect_column(&parsing, "fixed", "[[24897, 25154], [7, 7], [7, 7]]");
    expect_column(&parsing, "var", "[[65, 97, 66, 98], ~[], ~[]]");
    expect_column(&parsing, "steps",
                  "[[[65, 97], [66, 98]], ~[[0, 0], [0, 0]], ~[[0, 0], [0, 0]]] lengths [2, 0, 0]");
    end(NULL);
    assert_int_equal(PARSE(features, RAISE, "b=b:AaB"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.message, "'b'"));
    end(NULL);
    assert_int_equal(PARSE(features, RAISE, "b=b:AaBb,AaBb"), RECMAP_FEATURE);
    end(NULL);
    assert_int_equal(PARSE(features, RAISE, "b=b:"), RECMAP_FEATURE);
}

/* Several values of raw elements follow each other. They must have equally many. */
static void test_raw_bytes_in_several_values(void **state) {
    (void)state;
    const recmap_feature fixed[] = {
        {.name = "b", .kind = FIXED, .element = RECMAP_ELEMENT_UINT16, SHAPE(2), .raw = 1}};
    const recmap_feature others[] = {
        {.name = "b", .kind = VAR, .element = RECMAP_ELEMENT_INT8, .raw = 1},
        {.name = "steps",
         .key = "b",
         .kind = SEQUENCE,
         .element = RECMAP_ELEMENT_UINT8,
         SHAPE(2),
         .raw = 1},
    };
    assert_int_equal(PARSE(fixed, RAISE, "b=b:AaBb", "b=b:Aa,Bb"), RECMAP_OK);
    expect_column(&parsing, "b", "[[24897, 25154], [24897, 25154]]");
    end(NULL);
    assert_int_equal(PARSE(others, RAISE, "b=b:Aa,Bb", "b=b:", "b=b:AaBb,BbAa"), RECMAP_OK);
    expect_column(&parsing, "b", "[[65, 97, 66, 98], [], [65, 97, 66, 98, 66, 98, 65, 97]]");
    end(NULL);
    assert_int_equal(PARSE(others, RAISE, "b=b:AaBb,Aa"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.message, "bytes value 1 has 2 bytes"));
    end(NULL);
    assert_int_equal(PARSE(fixed, RAISE, "b=b:Aa"), RECMAP_FEATURE);
}

/* The bits of a negative number are a large one. */
static void test_unsigned_numbers_as_bits(void **state) {
    (void)state;
    const recmap_feature plain[] = {{.name = "n", .kind = VAR, .element = RECMAP_ELEMENT_UINT64}};
    const recmap_feature bits[] = {
        {.name = "n", .kind = VAR, .element = RECMAP_ELEMENT_UINT64, .as_bits = 1},
        {.name = "signed", .key = "n", .kind = VAR, .element = RECMAP_ELEMENT_INT64}};
    assert_int_equal(PARSE(bits, RAISE, "n=i:1,-1", "n=i:7"), RECMAP_OK);
    expect_column(&parsing, "n", "[[1, 18446744073709551615], [7]]");
    expect_column(&parsing, "signed", "[[1, -1], [7]]");
    end(NULL);
    assert_int_equal(PARSE(plain, RAISE, "n=i:-1"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.advice, "`.as_bits = 1`"));
    end(NULL);
    const recmap_feature wrong[] = {
        {.name = "n", .kind = VAR, .element = RECMAP_ELEMENT_UINT32, .as_bits = 1}};
    recmap_parser *parser;
    recmap_error error;
    assert_int_equal(recmap_parser_create(&parser, wrong, 1, &error), RECMAP_INVALID);
}

static void test_lists_in_pieces(void **state) {
    (void)state;
    const recmap_feature lists[] = {
        {.name = "a", .kind = SEQUENCE, .element = RECMAP_ELEMENT_INT16, SHAPE(2)},
        {.name = "same", .key = "a", .kind = VAR, .element = I64},
        {.name = "raw", .key = "b", .kind = SEQUENCE, .element = RECMAP_ELEMENT_UINT16, .raw = 1},
    };
    /* Two maps of lists, the second with a new value of one list. */
    assert_int_equal(parse_sequences(&parsing, NULL, 0, lists, COUNT(lists), RECMAP_PARSE_RAISE,
                                     TEXTS("| a=[i:1,2]"), &batch),
                     RECMAP_OK);
    struct message message;
    message.size = 0;
    put_record(&message, "x=i:1 | a=[i:9,9][i:9,9] b=[b:AB][b:CD]", 1);
    put_record(&message, "y=i:1 | a=[i:3,4][i:5,6][i:7,-8] other=[f:1]", 1);
    const recmap_record record = {.data = message.data, .size = message.size};
    assert_int_equal(parse_record(&record), RECMAP_OK);
    expect_column(&parsing, "a", "[[[3, 4], [5, 6], [7, -8]]] lengths [3]");
    expect_column(&parsing, "same", "[[[3, 4], [5, 6], [7, -8]]]");
    expect_column(&parsing, "raw", "[[16961, 17475]] lengths [2]");
}

/* Rows in numbers, so that what holds their offsets grows on the way. */
static void test_offsets_of_many_rows_grow(void **state) {
    (void)state;
    enum { RECORDS = 40, LIMIT = 500 };
    const recmap_feature features[] = {RAGGED_OF("r", "v", I64, {RECMAP_PARTITION_UNIFORM, NULL, 2},
                                                 {RECMAP_PARTITION_ROW_LENGTHS, "n", 0})};
    assert_int_equal(PARSE(features, RAISE, ""), RECMAP_OK);
    text_batch_deinit(&batch);
    static struct message records[RECORDS];
    recmap_record given[RECORDS];
    int64_t values[LIMIT * 3], lengths[LIMIT];
    for (size_t i = 0; i < RECORDS; i++) {
        struct message map;
        size_t count = i % 5 ? i * 12 : 0, value_count = 0;
        map.size = records[i].size = 0;
        for (size_t j = 0; j < count; j++) {
            lengths[j] = (int64_t)((i + j) % 4);
            for (int64_t k = 0; k < lengths[j]; k++) values[value_count++] = (int64_t)(j * 10) + k;
        }
        put_int64s(&map, "v", values, value_count);
        put_int64s(&map, "n", lengths, count);
        put_sub(&records[i], 1, &map);
        given[i] = (recmap_record){.data = records[i].data, .size = records[i].size};
    }
    assert_int_equal(recmap_parser_parse(parsing.columns, parsing.parser, given, RECORDS,
                                         RECMAP_PARSE_RAISE, NULL),
                     RECMAP_OK);
    const recmap_column *r = recmap_columns_get(parsing.columns, 0);
    size_t row = 0, at = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        size_t count = i % 5 ? i * 12 : 0;
        assert_int_equal(r->offsets[0][i + 1] - r->offsets[0][i], count / 2);
        for (size_t j = 0; j < count; j++, row++) {
            if (row % 2 == 0) assert_int_equal(r->offsets[1][row / 2], row);
            assert_int_equal(r->offsets[2][row], at);
            for (size_t k = 0; k < (i + j) % 4; k++)
                assert_int_equal(((const int64_t *)r->values)[at++], j * 10 + k);
        }
    }
    assert_int_equal(r->value_count, at);
}

static void count_release(void *owner) {
    ++*(int *)owner;
}

static void test_exports_hold_their_owner(void **state) {
    (void)state;
    int owners[4] = {0};
    const recmap_feature features[] = {{.name = "a", .kind = VAR, .element = I64}};
    assert_int_equal(PARSE(features, RAISE, "a=i:1"), RECMAP_OK);
    recmap_columns_set_owner(parsing.columns, &owners[0], count_release);
    assert_int_equal(owners[0], 0);
    parse_record(batch.records);
    assert_int_equal(owners[0], 1);
    /* A failed parse releases the owner as well. */
    recmap_columns_set_owner(parsing.columns, &owners[1], count_release);
    const recmap_record bad = {.data = (const uint8_t *)"\x0f", .size = 1};
    assert_int_equal(parse_record(&bad), RECMAP_CORRUPT);
    assert_int_equal(owners[1], 1);
    /* There is nothing to hold. */
    recmap_columns_set_owner(parsing.columns, &owners[2], count_release);
    assert_int_equal(owners[2], 1);
    parse_record(batch.records);
    recmap_columns_set_owner(parsing.columns, &owners[3], count_release);
    recmap_columns_destroy(parsing.columns);
    parsing.columns = NULL;
    assert_int_equal(owners[3], 1);
    for (int i = 0; i < 3; i++) assert_int_equal(owners[i], 1);
}

/* One pair of columns for parsers in turn; a parser may end before its columns do. */
static void test_parsers_can_share_columns(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "a", .kind = VAR, .element = I64}};
    recmap_parser *others[3];
    assert_int_equal(PARSE(features, RAISE, "a=i:1 b=f:2 c=b:x"), RECMAP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(recmap_parser_create(&others[i], mixed, COUNT(mixed), NULL), RECMAP_OK);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(recmap_parser_parse(parsing.columns, others[i % 3], batch.records, 1,
                                             RECMAP_PARSE_COLLECT, NULL),
                         RECMAP_OK);
        assert_int_equal(recmap_columns_count(parsing.columns), COUNT(mixed));
        assert_int_equal(parse_record(batch.records), RECMAP_OK);
        expect_column(&parsing, "a", "[[1]]");
    }
    assert_ptr_equal(recmap_parser_retain(parsing.parser), parsing.parser);
    recmap_parser_release(parsing.parser);
    recmap_parser_release(parsing.parser);
    parsing.parser = NULL;
    for (int i = 0; i < 3; i++) recmap_parser_release(others[i]);
    expect_column(&parsing, "a", "[[1]]");
    assert_null(recmap_columns_find(parsing.columns, "b"));
}

/* What docs/reference/features.md draws. */
static void test_examples_of_the_documentation_hold(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "words", .kind = VAR, .element = I64},
        {.name = "frames", .kind = SEQUENCE, .element = F32, SHAPE(2)},
        {.name = "cut", .key = "frames", .kind = SEQUENCE, .element = F32, SHAPE(2), .unpadded = 1},
        {.name = "v",
         .kind = RAGGED,
         .element = I64,
         PARTITIONS({RECMAP_PARTITION_UNIFORM, NULL, 2}, {RECMAP_PARTITION_ROW_LENGTHS, "n", 0},
                    {RECMAP_PARTITION_ROW_SPLITS, "s", 0})},
        {.name = "p", .key = "value", .kind = SPARSE, .element = I64, INDICES("x"), SIZES(10)},
    };
    assert_int_equal(PARSE(features, RAISE,
                           "words=i:3,1,4 frames=f:1,2,3,4 v=i:1,2,3,4,5,6,7 n=i:1,2,0,1 "
                           "s=i:0,1,3,4,7 value=i:3,1,2 x=i:7,0,4",
                           "words=i:", "frames=f:5,6 value=i:9 x=i:5", "words=i:1,5"),
                     RECMAP_OK);
    expect_column(&parsing, "words", "[[3, 1, 4], [], ~[], [1, 5]]");
    expect_column(&parsing, "frames",
                  "[[[1, 2], [3, 4]], ~[[0, 0], [0, 0]], [[5, 6], [0, 0]], ~[[0, 0], [0, 0]]] "
                  "lengths [2, 0, 1, 0]");
    expect_column(&parsing, "cut", "[[[1, 2], [3, 4]], ~[], [[5, 6]], ~[]]");
    expect_column(&parsing, "v", "[[[[[1]], [[2, 3], [4]]], [[], [[5, 6, 7]]]], ~[], ~[], ~[]]");
    expect_column(&parsing, "p",
                  "[[1, 2, 3], ~[], [9], ~[]] indices [0, 0, 0, 4, 0, 7, 2, 5] shape [4, 10]");
    static const int64_t expected[4][5] = {{0, 2, 2}, {0, 2, 4}, {0, 1, 3, 3, 4}, {0, 1, 3, 4, 7}};
    const recmap_column *v = recmap_columns_find(parsing.columns, "v");
    assert_int_equal(v->offsets_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_memory_equal(v->offsets[i], expected[i], (i < 2 ? 3 : 5) * sizeof(int64_t));
}

static void test_a_parser_without_features_reads_nothing(void **state) {
    (void)state;
    parsing.error = (recmap_error)RECMAP_ERROR_INIT;
    assert_int_equal(recmap_parser_create(&parsing.parser, NULL, 0, NULL), RECMAP_OK);
    assert_int_equal(recmap_columns_create(&parsing.columns, NULL), RECMAP_OK);
    batch_add(&batch, "a=i:1", 0);
    assert_int_equal(parse_record(batch.records), RECMAP_OK);
    assert_int_equal(recmap_columns_count(parsing.columns), 0);
    assert_int_equal(recmap_columns_row_count(parsing.columns), 1);
    recmap_columns_destroy(NULL);
    recmap_parser_release(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_advice_for_lists_of_another_kind),
        TEST(test_advice_for_raw_bytes),
        TEST(test_failures_are_collected),
        TEST(test_all_rows_fail),
        TEST(test_damage_is_collected),
        TEST(test_partitions_that_do_not_cut),
        TEST(test_empty_rows_between_others_are_kept),
        TEST(test_sparse_duplicates_keep_their_order),
        TEST(test_sparse_order_of_many),
        TEST(test_raw_bytes_become_elements),
        TEST(test_raw_bytes_in_several_values),
        TEST(test_unsigned_numbers_as_bits),
        TEST(test_lists_in_pieces),
        TEST(test_offsets_of_many_rows_grow),
        TEST(test_exports_hold_their_owner),
        TEST(test_parsers_can_share_columns),
        TEST(test_examples_of_the_documentation_hold),
        TEST(test_a_parser_without_features_reads_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
