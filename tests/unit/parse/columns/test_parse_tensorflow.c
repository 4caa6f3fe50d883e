/* The cases of TensorFlow's own tests of tf.io.parse_example, with what recmap makes of them. Those
 * that recmap answers in another way say so. */
#include <stdio.h>
#include <string.h>

#include "unit/parse/columns/parse_case.h"

static void expect_error(recmap_status status, recmap_status expected, uint64_t row,
                         const char *message) {
    assert_int_equal(status, expected);
    assert_string_equal(parsing.error.message, message);
    assert_int_equal(parsing.error.record, 1000 + row);
    assert_int_equal(recmap_columns_count(parsing.columns), 0);
    assert_int_equal(recmap_columns_row_count(parsing.columns), 0);
}

/* Records without any feature: every fixed feature takes its default, and one default value fills a
 * whole shape. */
static void test_12_empty_records_take_defaults(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "st", .kind = VAR, .element = I64},
        {.name = "a",
         .kind = FIXED,
         .element = I64,
         SHAPE(1, 3),
         DEFAULTS(INT64(0), INT64(42), INT64(0))},
        {.name = "b", .kind = FIXED, .element = STR, SHAPE(3, 3), DEFAULTS(TEXT("tmp_str"))},
        {.name = "c:has_a_tricky_name",
         .kind = FIXED,
         .element = F32,
         SHAPE(2),
         DEFAULTS(FLOAT(1.5f), FLOAT(2))},
    };
    assert_int_equal(PARSE(features, RAISE, "", ""), RECMAP_OK);
    expect_column(&parsing, "st", "[~[], ~[]]");
    expect_column(&parsing, "a", "[[[0, 42, 0]], [[0, 42, 0]]]");
    expect_column(&parsing, "b",
                  "[[[tmp_str, tmp_str, tmp_str], [tmp_str, tmp_str, tmp_str], "
                  "[tmp_str, tmp_str, tmp_str]], [[tmp_str, tmp_str, tmp_str], "
                  "[tmp_str, tmp_str, tmp_str], [tmp_str, tmp_str, tmp_str]]]");
    expect_column(&parsing, "c:has_a_tricky_name", "[[1.5, 2], [1.5, 2]]");
}

static void test_13_missing_without_default(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "c", .kind = FIXED, .element = F32, SHAPE(2)}};
    expect_error(PARSE(features, RAISE, "c=f:3,4", ""), RECMAP_FEATURE, 1,
                 "feature 'c' is missing and has no default");
    end(NULL);
    expect_error(PARSE(features, RAISE, "c=f:3,4", "c=?"), RECMAP_FEATURE, 1,
                 "feature 'c' is missing and has no default");
}

static void test_14_wrong_count(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "a", .kind = FIXED, .element = F32, SHAPE(1, 3)}};
    expect_error(PARSE(features, RAISE, "a=f:1,1,3", "a=f:-1,-1"), RECMAP_FEATURE, 1,
                 "feature 'a': 2 values where [1, 3] needs 3");
    assert_true(parsing.error.offset != RECMAP_NO_OFFSET);
}

static void test_16_var_len(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "st_c", .kind = VAR, .element = F32},
                                       {.name = "st_d", .kind = VAR, .element = STR}};
    assert_int_equal(
        PARSE(features, RAISE, "st_c=f:3,4", "st_c=f:", "st_d=?", "st_c=f:1,2,-1 st_d=b:hi"),
        RECMAP_OK);
    expect_column(&parsing, "st_c", "[[3, 4], [], ~[], [1, 2, -1]]");
    expect_column(&parsing, "st_d", "[~[], ~[], ~[], [hi]]");
}

static void test_17_sparse(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "sp", .key = "val", .kind = SPARSE, .element = F32, INDICES("idx"), SIZES(13)}};
    assert_int_equal(PARSE(features, RAISE, "val=f:3,4 idx=i:5,10", "val=f: idx=i:", "val=?",
                           "val=f:1,2,-1 idx=i:0,9,3"),
                     RECMAP_OK);
    expect_column(&parsing, "sp",
                  "[[3, 4], [], ~[], [1, -1, 2]] indices [0, 5, 0, 10, 3, 0, 3, 3, 3, 9] "
                  "shape [4, 13]");
}

/* TensorFlow lets an index beyond the size pass where the values are already sorted. */
static void test_18_two_sparse_of_one_index(void **state) {
    (void)state;
    recmap_feature features[] = {
        {.name = "sp1", .key = "val1", .kind = SPARSE, .element = F32, INDICES("idx"), SIZES(13)},
        {.name = "sp2",
         .key = "val2",
         .kind = SPARSE,
         .element = STR,
         INDICES("idx"),
         SIZES(12),
         .already_sorted = 1}};
    assert_int_equal(PARSE(features, RAISE, "val1=f:3,4 val2=b:a,b idx=i:5,10"), RECMAP_OK);
    expect_column(&parsing, "sp1", "[[3, 4]] indices [0, 5, 0, 10] shape [1, 13]");
    expect_column(&parsing, "sp2", "[[a, b]] indices [0, 5, 0, 10] shape [1, 12]");
    end(NULL);
    features[1].sizes = (const uint64_t[]){7};
    expect_error(PARSE(features, RAISE, "", "val1=f:3,4 val2=b:a,b idx=i:5,10"), RECMAP_FEATURE, 1,
                 "feature 'sp2': index 10 in 'idx' is not in [0, 7)");
}

static void test_19_sparse_of_two_indices(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "sp",
                                        .key = "val",
                                        .kind = SPARSE,
                                        .element = F32,
                                        INDICES("idx0", "idx1"),
                                        SIZES(13, 3)}};
    assert_int_equal(PARSE(features, RAISE, "val=f:3,4 idx0=i:5,10 idx1=i:0,2",
                           "val=f: idx0=i: idx1=i:", "val=?",
                           "val=f:1,2,-1 idx0=i:0,9,3 idx1=i:1,0,2"),
                     RECMAP_OK);
    expect_column(&parsing, "sp",
                  "[[3, 4], [], ~[], [1, -1, 2]] indices [0, 5, 0, 0, 10, 2, 3, 0, 1, 3, 3, 2, "
                  "3, 9, 0] shape [4, 13, 3]");
}

static void test_20_dense_without_defaults(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "a", .kind = FIXED, .element = F32, SHAPE(1, 2, 1)},
        {.name = "b*has+a:tricky_name", .kind = FIXED, .element = STR, SHAPE(1, 1, 1, 1)}};
    assert_int_equal(PARSE(features, RAISE, "a=f:1,1 b*has+a:tricky_name=b:b0_str",
                           "a=f:-1,-1 b*has+a:tricky_name=b:b1"),
                     RECMAP_OK);
    expect_column(&parsing, "a", "[[[[1], [1]]], [[[-1], [-1]]]]");
    expect_column(&parsing, "b*has+a:tricky_name", "[[[[[b0_str]]]], [[[[b1]]]]]");
}

/* Serialized Examples that follow one another. */
static void test_21_concatenated(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "a", .kind = FIXED, .element = F32, SHAPE(1, 2, 1)},
        {.name = "b", .kind = FIXED, .element = STR, SHAPE(1, 1, 1, 1)}};
    struct message both[2];
    both[0].size = both[1].size = 0;
    put_record(&both[0], "a=f:10,10", 0);
    put_record(&both[0], "a=f:1,1 b=b:b0_str", 0);
    put_record(&both[1], "b=b:b100", 0);
    put_record(&both[1], "a=f:-1,-1 b=b:b1", 0);
    const recmap_record records[] = {{.data = both[0].data, .size = both[0].size},
                                     {.data = both[1].data, .size = both[1].size}};
    assert_int_equal(PARSE(features, RAISE, "a=f:1,1 b=b:"), RECMAP_FEATURE);
    assert_int_equal(
        recmap_parser_parse(parsing.columns, parsing.parser, records, 2, RECMAP_PARSE_RAISE, NULL),
        RECMAP_OK);
    expect_column(&parsing, "a", "[[[[1], [1]]], [[[-1], [-1]]]]");
    expect_column(&parsing, "b", "[[[[[b0_str]]]], [[[[b1]]]]]");
}

static void test_22_scalar_default(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "a", .kind = FIXED, .element = F32, SHAPE(1), DEFAULTS(FLOAT(-1))}};
    assert_int_equal(PARSE(features, RAISE, "a=f:1", ""), RECMAP_OK);
    expect_column(&parsing, "a", "[[1], [-1]]");
}

static void test_23_defaults(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "a", .kind = FIXED, .element = F32, SHAPE(1, 2, 1), DEFAULTS(FLOAT(3), FLOAT(-3))},
        {.name = "b", .kind = FIXED, .element = STR, SHAPE(1, 1, 1, 1), DEFAULTS(TEXT("tmp_str"))}};
    assert_int_equal(PARSE(features, RAISE, "a=f:1,1", "b=b:b1", "b=?"), RECMAP_OK);
    expect_column(&parsing, "a", "[[[[1], [1]]], [[[3], [-3]]], [[[3], [-3]]]]");
    expect_column(&parsing, "b", "[[[[[tmp_str]]]], [[[[b1]]]], [[[[tmp_str]]]]]");
}

static void test_24_index_is_a_feature_too(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "idx", .kind = VAR, .element = I64},
        {.name = "sp", .key = "val", .kind = SPARSE, .element = STR, INDICES("idx"), SIZES(13)}};
    assert_int_equal(PARSE(features, RAISE, "val=b:a,b idx=i:0,3", "val=b:c,d idx=i:7,1"),
                     RECMAP_OK);
    expect_column(&parsing, "sp",
                  "[[a, b], [d, c]] indices [0, 0, 0, 3, 1, 1, 1, 7] shape [2, 13]");
    expect_column(&parsing, "idx", "[[0, 3], [7, 1]]");
}

static const char *const sequences[] = {"c=f:2", "a=f:1,1 b=b:b0_str,b1_str",
                                        "a=f:-1,-1,2,2 b=b:b1", "a=f: c=f:3", NULL};

/* Feature lists of four records, each list present, empty or absent: rows are padded to the longest
 * one unless the feature is unpadded. */
static void test_25_sequences(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "a", .kind = SEQUENCE, .element = F32, SHAPE(2, 1)},
        {.name = "b", .kind = SEQUENCE, .element = STR, SHAPE(1, 1, 1)},
        {.name = "c", .kind = SEQUENCE, .element = F32},
        {.name = "d", .kind = SEQUENCE, .element = STR},
        {.name = "cut", .key = "a", .kind = SEQUENCE, .element = F32, SHAPE(2, 1), .unpadded = 1},
    };
    assert_int_equal(
        parse_texts(&parsing, features, COUNT(features), RECMAP_PARSE_RAISE, sequences, &batch),
        RECMAP_OK);
    expect_column(&parsing, "a",
                  "[~[[[0], [0]], [[0], [0]]], [[[1], [1]], [[0], [0]]], [[[-1], [-1]], [[2], "
                  "[2]]], [[[0], [0]], [[0], [0]]]] lengths [0, 1, 2, 0]");
    expect_column(&parsing, "b",
                  "[~[[[[]]], [[[]]]], [[[[b0_str]]], [[[b1_str]]]], [[[[b1]]], [[[]]]], "
                  "~[[[[]]], [[[]]]]] lengths [0, 2, 1, 0]");
    expect_column(&parsing, "c", "[[2], ~[0], ~[0], [3]] lengths [1, 0, 0, 1]");
    expect_column(&parsing, "d", "[~[], ~[], ~[], ~[]] lengths [0, 0, 0, 0]");
    expect_column(&parsing, "cut", "[~[], [[[1], [1]]], [[[-1], [-1]], [[2], [2]]], []]");
}

static void test_26_padding(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "a", .kind = SEQUENCE, .element = F32, SHAPE(2, 1), DEFAULTS(FLOAT(-2))},
        {.name = "b",
         .kind = SEQUENCE,
         .element = STR,
         .bytes_mode = RECMAP_BYTES_COPY,
         DEFAULTS(TEXT("none"))}};
    assert_int_equal(
        parse_texts(&parsing, features, COUNT(features), RECMAP_PARSE_RAISE, sequences, &batch),
        RECMAP_OK);
    expect_column(&parsing, "a",
                  "[~[[[-2], [-2]], [[-2], [-2]]], [[[1], [1]], [[-2], [-2]]], [[[-1], [-1]], "
                  "[[2], [2]]], [[[-2], [-2]], [[-2], [-2]]]] lengths [0, 1, 2, 0]");
    expect_column(&parsing, "b",
                  "[~[none, none], [b0_str, b1_str], [b1, none], ~[none, none]] "
                  "lengths [0, 2, 1, 0]");
}

static void test_27_no_whole_steps(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "b", .kind = SEQUENCE, .element = STR, SHAPE(2, 1, 1)}};
    assert_int_equal(PARSE(features, RAISE, "b=b:x,y", "b=b:b0_str"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.message, "feature 'b': 1 value"));
    assert_non_null(strstr(parsing.error.message, "[2, 1, 1]"));
    assert_int_equal(parsing.error.record, 1001);
}

/* Batches whose records lack now one feature, now the other: what pads must not move. */
static void test_29_batches(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 10, 20, 100, 256};
    const recmap_feature features[] = {
        {.name = "a", .kind = FIXED, .element = I64, DEFAULTS(INT64(-1))},
        {.name = "s", .kind = SEQUENCE, .element = STR, DEFAULTS(TEXT("default"))},
        {.name = "v", .kind = VAR, .element = I64}};
    for (size_t round = 0; round < COUNT(sizes); round++) {
        assert_int_equal(PARSE(features, RAISE, "a=i:1"), RECMAP_OK);
        text_batch_deinit(&batch);
        for (size_t i = 0; i < sizes[round]; i++) {
            char text[128] = "";
            if (i % 3) snprintf(text, sizeof text, "a=i:%zu", i);
            if (i % 5) snprintf(text + strlen(text), 64, "%ss=b:s%zu,t", i % 3 ? " " : "", i);
            if (i % 7) snprintf(text + strlen(text), 32, "%sv=i:%zu", *text ? " " : "", i);
            batch_add(&batch, text, 0);
        }
        assert_int_equal(recmap_parser_parse(parsing.columns, parsing.parser, batch.records,
                                             batch.count, RECMAP_PARSE_RAISE, &parsing.error),
                         RECMAP_OK);
        const recmap_column *a = recmap_columns_get(parsing.columns, 0);
        const recmap_column *s = recmap_columns_get(parsing.columns, 1);
        const recmap_column *v = recmap_columns_get(parsing.columns, 2);
        uint64_t longest = sizes[round] > 1 ? 2 : 0;
        assert_int_equal(s->shape[1], longest);
        for (size_t i = 0; i < sizes[round]; i++) {
            assert_int_equal(((const int64_t *)a->values)[i], i % 3 ? (int64_t)i : -1);
            assert_int_equal(s->lengths[i], i % 5 ? 2 : 0);
            assert_int_equal(v->offsets[0][i + 1] - v->offsets[0][i], i % 7 ? 1 : 0);
            const char *last = i % 5 ? "t" : "default";
            if (longest == 0) continue;
            assert_int_equal(s->views[i * 2 + 1].size, strlen(last));
            assert_memory_equal(s->views[i * 2 + 1].data, last, strlen(last));
        }
        end(NULL);
    }
}

/* RaggedFeature without partitions is VAR_LEN. */
static void test_30_ragged_without_partitions(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "rt_c", .kind = VAR, .element = F32},
                                       {.name = "rt_d", .kind = VAR, .element = STR}};
    const char *texts[] = {"rt_c=f:3,4", "rt_c=f:", "rt_d=?", "rt_c=f:1,2,-1 rt_d=b:hi"};
    assert_int_equal(PARSE(features, RAISE, texts[0], texts[1], texts[2], texts[3]), RECMAP_OK);
    expect_column(&parsing, "rt_c", "[[3, 4], [], ~[], [1, 2, -1]]");
    expect_column(&parsing, "rt_d", "[~[], ~[], ~[], [hi]]");
    end(NULL);
    const char *many[4 * 64 + 1] = {0};
    for (size_t i = 0; i < 4 * 64; i++) many[i] = texts[i % 4];
    assert_int_equal(
        parse_texts(&parsing, features, COUNT(features), RECMAP_PARSE_RAISE, many, &batch),
        RECMAP_OK);
    const recmap_column *column = recmap_columns_get(parsing.columns, 0);
    assert_int_equal(column->value_count, 5 * 64);
    assert_int_equal(column->null_count, 64);
    assert_true(((const float *)column->values)[5 * 63 + 4] == -1.0f);
}

/* One ragged column, described by each kind of partition. All must split the values alike. */
static void test_31_partition_kinds(void **state) {
    (void)state;
    const recmap_feature features[] = {
        RAGGED_OF("splits", "v", F32, {RECMAP_PARTITION_ROW_SPLITS, "row_splits", 0}),
        RAGGED_OF("lengths", "v", F32, {RECMAP_PARTITION_ROW_LENGTHS, "row_lengths", 0}),
        RAGGED_OF("starts", "v", F32, {RECMAP_PARTITION_ROW_STARTS, "row_starts", 0}),
        RAGGED_OF("limits", "v", F32, {RECMAP_PARTITION_ROW_LIMITS, "row_limits", 0}),
        RAGGED_OF("rowids", "v", F32, {RECMAP_PARTITION_VALUE_ROW_IDS, "row_ids", 0}),
    };
    assert_int_equal(
        PARSE(features, RAISE,
              "v=f:3,4,5,6 row_splits=i:0,1,4 row_lengths=i:1,3 row_starts=i:0,1 row_limits=i:1,4 "
              "row_ids=i:0,1,1,1",
              "v=f: row_splits=i:0 row_lengths=i: row_starts=i: row_limits=i: row_ids=i:",
              "v=? row_splits=i:0",
              "v=f:1,2,-1,8,9,5 row_splits=i:0,3,3,5,6 row_lengths=i:3,0,2,1 "
              "row_starts=i:0,3,3,5 row_limits=i:3,3,5,6 row_ids=i:0,0,0,2,2,3"),
        RECMAP_OK);
    for (size_t i = 0; i < COUNT(features); i++)
        expect_column(&parsing, features[i].name,
                      "[[[3], [4, 5, 6]], [], ~[], [[1, 2, -1], [], [8, 9], [5]]]");
}

static void test_31_uniform(void **state) {
    (void)state;
    const recmap_feature features[] = {
        RAGGED_OF("one", "v", F32, {RECMAP_PARTITION_UNIFORM, NULL, 2}),
        RAGGED_OF("outer", "v", F32, {RECMAP_PARTITION_UNIFORM, NULL, 2},
                  {RECMAP_PARTITION_ROW_SPLITS, "row_splits", 0}),
        RAGGED_OF("inner", "v", F32, {RECMAP_PARTITION_ROW_LENGTHS, "pairs", 0},
                  {RECMAP_PARTITION_UNIFORM, NULL, 2}),
    };
    assert_int_equal(PARSE(features, RAISE, "v=f:3,4,5,6 row_splits=i:0,1,4 pairs=i:2", "",
                           "v=f:1,2,-1,8,9,5 row_splits=i:0,3,3,5,6 pairs=i:0,1,2"),
                     RECMAP_OK);
    expect_column(&parsing, "one", "[[[3, 4], [5, 6]], ~[], [[1, 2], [-1, 8], [9, 5]]]");
    expect_column(&parsing, "outer",
                  "[[[[3], [4, 5, 6]]], ~[], [[[1, 2, -1], []], [[8, 9], [5]]]]");
    expect_column(&parsing, "inner",
                  "[[[[3, 4], [5, 6]]], ~[], [[], [[1, 2]], [[-1, 8], [9, 5]]]]");
}

static void test_32_nested(void **state) {
    (void)state;
    const recmap_feature features[] = {RAGGED_OF("nested", "nested_values", F32,
                                                 {RECMAP_PARTITION_UNIFORM, NULL, 2},
                                                 {RECMAP_PARTITION_ROW_LENGTHS, "lengths_axis2", 0},
                                                 {RECMAP_PARTITION_ROW_SPLITS, "splits_axis3", 0})};
    assert_int_equal(PARSE(features, RAISE,
                           "nested_values=f:1,2,3,4,5,6,7 lengths_axis2=i:1,2,0,1 "
                           "splits_axis3=i:0,1,3,4,7",
                           "", "nested_values=f:1 lengths_axis2=i:0,1 splits_axis3=i:0,1"),
                     RECMAP_OK);
    expect_column(&parsing, "nested",
                  "[[[[[1]], [[2, 3], [4]]], [[], [[5, 6, 7]]]], ~[], [[[], [[1]]]]]");
}

static void test_33_one_record_all_kinds(void **state) {
    (void)state;
    const recmap_feature features[] = {
        RAGGED_OF("1", "rt_values", I64, {RECMAP_PARTITION_ROW_SPLITS, "rt_splits", 0}),
        RAGGED_OF("2", "rt_values", I64, {RECMAP_PARTITION_VALUE_ROW_IDS, "rt_rowids", 0}),
        RAGGED_OF("3", "rt_values", I64, {RECMAP_PARTITION_UNIFORM, NULL, 1}),
        RAGGED_OF("4", "rt_values", I64, {RECMAP_PARTITION_ROW_SPLITS, "rt_splits2", 0},
                  {RECMAP_PARTITION_ROW_SPLITS, "rt_splits", 0}),
    };
    assert_int_equal(PARSE(features, RAISE,
                           "rt_values=i:5,6,7 rt_splits=i:0,1,1,3 rt_rowids=i:0,2,2 "
                           "rt_splits2=i:0,2,3"),
                     RECMAP_OK);
    expect_column(&parsing, "1", "[[[5], [], [6, 7]]]");
    expect_column(&parsing, "2", "[[[5], [], [6, 7]]]");
    expect_column(&parsing, "3", "[[[5], [6], [7]]]");
    expect_column(&parsing, "4", "[[[[5], []], [[6, 7]]]]");
}

static void test_34_longer_than_asked(void **state) {
    (void)state;
    const recmap_feature features[] = {{.name = "a", .kind = FIXED, .element = STR, SHAPE(2)}};
    expect_error(PARSE(features, RAISE, "a=b:x,y,z"), RECMAP_FEATURE, 0,
                 "feature 'a': 3 values where [2] needs 2");
}

#define PARSE_LISTS(lists, ...)                                                                    \
    parse_sequences(&parsing, NULL, 0, lists, COUNT(lists), RECMAP_PARSE_RAISE,                    \
                    TEXTS(__VA_ARGS__), &batch)

static void test_35_feature_lists(void **state) {
    (void)state;
    const recmap_feature lists[] = {
        {.name = "a", .kind = SEQUENCE, .element = I64, SHAPE(1, 3)},
        {.name = "b", .kind = SEQUENCE, .element = STR, SHAPE(2, 2)},
        {.name = "c", .kind = SEQUENCE, .element = F32, SHAPE(2, 2)},
        {.name = "d", .kind = SEQUENCE, .element = F32, SHAPE(5)},
    };
    assert_int_equal(PARSE_LISTS(lists, "| a=[i:1,2,3][i:4,5,6][i:7,8,9][i:10,11,12] "
                                        "b=[b:r00,r01,r10,r11] c=[f:3,4,5,6][f:7,8,9,10]"),
                     RECMAP_OK);
    expect_column(&parsing, "a",
                  "[[[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[10, 11, 12]]]] lengths [4]");
    expect_column(&parsing, "b", "[[[[r00, r01], [r10, r11]]]] lengths [1]");
    expect_column(&parsing, "c", "[[[[3, 4], [5, 6]], [[7, 8], [9, 10]]]] lengths [2]");
    expect_column(&parsing, "d", "[~[]] lengths [0]");
    const recmap_column *d = recmap_columns_find(parsing.columns, "d");
    assert_int_equal(d->dimension_count, 3);
    assert_int_equal(d->shape[2], 5);
}

static void test_36_var_len_lists(void **state) {
    (void)state;
    const recmap_feature lists[] = {{.name = "st_a", .kind = VAR, .element = I64},
                                    {.name = "st_b", .kind = VAR, .element = STR},
                                    {.name = "st_c", .kind = VAR, .element = F32}};
    assert_int_equal(PARSE_LISTS(lists, "| st_a=[i:3,4][i:5][i:] st_b=[b:a][b:][b:][b:b,c]"),
                     RECMAP_OK);
    expect_column(&parsing, "st_a", "[[[3, 4], [5], []]]");
    expect_column(&parsing, "st_b", "[[[a], [], [], [b, c]]]");
    expect_column(&parsing, "st_c", "[~[]]");
}

static void test_37_unset_steps(void **state) {
    (void)state;
    const recmap_feature lists[] = {{.name = "st_a", .kind = VAR, .element = I64}};
    assert_int_equal(PARSE_LISTS(lists, "| st_a=[i:3,4][?][i:5]"), RECMAP_OK);
    expect_column(&parsing, "st_a", "[[[3, 4], [], [5]]]");
}

/* An absent list is an error in TensorFlow unless it may be empty: recmap gives no steps and a
 * null, which tell the same. */
static void test_38_errors_of_steps(void **state) {
    (void)state;
    const recmap_feature lists[] = {{.name = "a", .kind = SEQUENCE, .element = I64, SHAPE(2)}};
    assert_int_equal(PARSE_LISTS(lists, "| a=[i:-1,0][f:2,3]"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.message, "'a'"));
    assert_non_null(strstr(parsing.error.message, "step 1"));
    assert_non_null(strstr(parsing.error.message, "float"));
    end(NULL);
    assert_int_equal(PARSE_LISTS(lists, "| a=[i:2,3][i:2,3,4]"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.message, "step 1"));
    assert_non_null(strstr(parsing.error.message, "3 values"));
    end(NULL);
    assert_int_equal(PARSE_LISTS(lists, "| a=[i:2][i:2,3,4]"), RECMAP_FEATURE);
    assert_non_null(strstr(parsing.error.message, "step 0"));
    end(NULL);
    assert_int_equal(PARSE_LISTS(lists, ""), RECMAP_OK);
    expect_column(&parsing, "a", "[~[]] lengths [0]");
}

/* A batch of SequenceExamples with context features: lists of different lengths are padded, and the
 * column counts separate context from lists. */
static void test_39_batch_of_sequences(void **state) {
    (void)state;
    const recmap_feature context[] = {
        {.name = "c", .kind = FIXED, .element = I64, DEFAULTS(INT64(-1))}};
    const recmap_feature lists[] = {{.name = "a", .kind = SEQUENCE, .element = I64, SHAPE(1, 3)},
                                    {.name = "b", .kind = SEQUENCE, .element = I64},
                                    {.name = "d", .kind = SEQUENCE, .element = F32, SHAPE(5)}};
    assert_int_equal(parse_sequences(&parsing, context, 1, lists, COUNT(lists), RECMAP_PARSE_RAISE,
                                     TEXTS("| a=[i:1,2,3][i:4,5,6]", "c=i:7 | a=[i:100,200,300] "
                                                                     "b=[i:5]"),
                                     &batch),
                     RECMAP_OK);
    expect_column(&parsing, "c", "[-1, 7]");
    expect_column(&parsing, "a",
                  "[[[[1, 2, 3]], [[4, 5, 6]]], [[[100, 200, 300]], [[0, 0, 0]]]] lengths [2, 1]");
    expect_column(&parsing, "b", "[~[0], [5]] lengths [0, 1]");
    expect_column(&parsing, "d", "[~[], ~[]] lengths [0, 0]");
    assert_int_equal(recmap_parser_context_count(parsing.parser), 1);
    assert_int_equal(recmap_parser_column_count(parsing.parser), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_12_empty_records_take_defaults),
        TEST(test_13_missing_without_default),
        TEST(test_14_wrong_count),
        TEST(test_16_var_len),
        TEST(test_17_sparse),
        TEST(test_18_two_sparse_of_one_index),
        TEST(test_19_sparse_of_two_indices),
        TEST(test_20_dense_without_defaults),
        TEST(test_21_concatenated),
        TEST(test_22_scalar_default),
        TEST(test_23_defaults),
        TEST(test_24_index_is_a_feature_too),
        TEST(test_25_sequences),
        TEST(test_26_padding),
        TEST(test_27_no_whole_steps),
        TEST(test_29_batches),
        TEST(test_30_ragged_without_partitions),
        TEST(test_31_partition_kinds),
        TEST(test_31_uniform),
        TEST(test_32_nested),
        TEST(test_33_one_record_all_kinds),
        TEST(test_34_longer_than_asked),
        TEST(test_35_feature_lists),
        TEST(test_36_var_len_lists),
        TEST(test_37_unset_steps),
        TEST(test_38_errors_of_steps),
        TEST(test_39_batch_of_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
