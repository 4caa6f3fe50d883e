/* Columns and records as Arrow arrays: types, values, and how long each is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arrow_text.h"
#include "unit/parse/columns/parse_case.h"

/* Column `index` is of that type with those values; so is the schema that the parser gives. */
static void expect_arrow(size_t index, const char *type, const char *values) {
    struct ArrowArray array;
    struct ArrowSchema schema, whole;
    assert_int_equal(
        recmap_columns_export_arrow_column(&array, &schema, parsing.columns, index, NULL),
        RECMAP_OK);
    assert_string_equal(arrow_type_text(&schema), type);
    assert_string_equal(arrow_values_text(&array, &schema), values);
    assert_int_equal(recmap_parser_export_arrow_schema(&whole, parsing.parser, NULL), RECMAP_OK);
    assert_string_equal(arrow_type_text(whole.children[index]), type);
    assert_string_equal(whole.children[index]->name, schema.name);
    whole.release(&whole);
    array.release(&array);
    schema.release(&schema);
    assert_null(array.release);
    assert_null(schema.release);
}

/* One column for each element type: Arrow's type name and the values must match. */
static void test_each_element_type_has_its_arrow_type(void **state) {
    (void)state;
    recmap_feature features[13] = {0};
    static const char *const types[] = {
        "int64",  "float",  "int32", "int16", "int8",      "uint64",
        "uint32", "uint16", "uint8", "bool",  "halffloat", "recmap:element=bfloat16 uint16",
        "double"};
    static const recmap_element elements[] = {
        RECMAP_ELEMENT_INT64,  RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_INT32,
        RECMAP_ELEMENT_INT16,  RECMAP_ELEMENT_INT8,    RECMAP_ELEMENT_UINT64,
        RECMAP_ELEMENT_UINT32, RECMAP_ELEMENT_UINT16,  RECMAP_ELEMENT_UINT8,
        RECMAP_ELEMENT_BOOL,   RECMAP_ELEMENT_FLOAT16, RECMAP_ELEMENT_BFLOAT16,
        RECMAP_ELEMENT_FLOAT64};
    for (size_t i = 0; i < 13; i++) {
        const char *name = recmap_element_name(elements[i]);
        features[i] = (recmap_feature){.name = name,
                                       .key = strstr(name, "float") ? "f" : "i",
                                       .kind = FIXED,
                                       .element = elements[i]};
    }
    assert_int_equal(PARSE(features, RAISE, "i=i:1 f=f:1.5", "i=i:0 f=f:-2"), RECMAP_OK);
    for (size_t i = 0; i < 13; i++)
        expect_arrow(i, types[i],
                     elements[i] == RECMAP_ELEMENT_BOOL       ? "[true, false]"
                     : elements[i] == RECMAP_ELEMENT_FLOAT16  ? "[0x3e00, 0xc000]"
                     : elements[i] == RECMAP_ELEMENT_BFLOAT16 ? "[16320, 49152]"
                     : strcmp(features[i].key, "f") == 0      ? "[1.5, -2]"
                                                              : "[1, 0]");
}

static void test_fixed_columns_become_fixed_size_lists(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "row", .key = "a", .kind = FIXED, .element = I64, SHAPE(4)},
        {.name = "matrix", .key = "a", .kind = FIXED, .element = I64, SHAPE(2, 2)},
        {.name = "flags", .key = "a", .kind = FIXED, .element = RECMAP_ELEMENT_BOOL, SHAPE(2, 2)},
        {.name = "texts", .key = "t", .kind = FIXED, .element = STR, SHAPE(2, 1)},
        {.name = "copied",
         .key = "t",
         .kind = FIXED,
         .element = STR,
         SHAPE(2),
         .bytes_mode = RECMAP_BYTES_COPY},
    };
    /* The second record cannot be read: its row is null everywhere. */
    assert_int_equal(PARSE(features, COLLECT, "a=i:1,0,0,1 t=b:short,one_of_more_than_12_bytes",
                           "a=i:1", "a=i:0,0,0,1 t=b:the_second_of_more_than_12,"),
                     RECMAP_OK);
    expect_arrow(0, "fixed_size_list<item: int64>[4]", "[[1, 0, 0, 1], null, [0, 0, 0, 1]]");
    expect_arrow(1,
                 "ARROW:extension:name=arrow.fixed_shape_tensor "
                 "ARROW:extension:metadata={\"shape\":[2,2]} fixed_size_list<item: int64>[4]",
                 "[[1, 0, 0, 1], null, [0, 0, 0, 1]]");
    expect_arrow(2, "fixed_size_list<item: fixed_size_list<item: bool>[2]>[2]",
                 "[[[true, false], [false, true]], null, [[false, false], [false, true]]]");
    expect_arrow(3, "fixed_size_list<item: fixed_size_list<item: binary_view>[1]>[2]",
                 "[[[short], [one_of_more_than_12_bytes]], null, "
                 "[[the_second_of_more_than_12], []]]");
    expect_arrow(4, "fixed_size_list<item: large_binary>[2]",
                 "[[short, one_of_more_than_12_bytes], null, [the_second_of_more_than_12, ]]");
}

/* Variable and sequence columns become lists or fixed-size lists. Copied and borrowed bytes must
 * give the same text. */
static void test_variable_columns_become_lists(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "v", .kind = VAR, .element = I64},
        {.name = "t", .kind = VAR, .element = STR},
        {.name = "steps", .key = "v", .kind = SEQUENCE, .element = I64, SHAPE(1, 2)},
        {.name = "cut", .key = "v", .kind = SEQUENCE, .element = I64, SHAPE(2), .unpadded = 1},
        {.name = "words", .key = "t", .kind = SEQUENCE, .element = STR, DEFAULTS(TEXT("pad"))},
        {.name = "copied",
         .key = "t",
         .kind = SEQUENCE,
         .element = STR,
         DEFAULTS(TEXT("pad")),
         .bytes_mode = RECMAP_BYTES_COPY},
    };
    assert_int_equal(PARSE(features, RAISE, "v=i:1,2,3,4 t=b:a", "",
                           "v=i:5,6 t=b:the_longest_one,b,another_long_one"),
                     RECMAP_OK);
    expect_arrow(0, "large_list<item: int64>", "[[1, 2, 3, 4], null, [5, 6]]");
    expect_arrow(1, "large_list<item: binary_view>",
                 "[[a], null, [the_longest_one, b, another_long_one]]");
    expect_arrow(2, "large_list<item: fixed_size_list<item: fixed_size_list<item: int64>[2]>[1]>",
                 "[[[[1, 2]], [[3, 4]]], null, [[[5, 6]]]]");
    expect_arrow(3, "large_list<item: fixed_size_list<item: int64>[2]>",
                 "[[[1, 2], [3, 4]], null, [[5, 6]]]");
    expect_arrow(4, "large_list<item: binary_view>",
                 "[[a], null, [the_longest_one, b, another_long_one]]");
    expect_arrow(5, "large_list<item: large_binary>",
                 "[[a], null, [the_longest_one, b, another_long_one]]");
}

/* Ragged columns become nested lists, sparse ones a struct of indices and values. */
static void test_ragged_and_sparse(void **state) {
    (void)state;
    const recmap_feature features[] = {
        RAGGED_OF("r", "v", F32, {RECMAP_PARTITION_ROW_LENGTHS, "n", 0},
                  {RECMAP_PARTITION_UNIFORM, NULL, 2}),
        RAGGED_OF("q", "v", F32, {RECMAP_PARTITION_UNIFORM, NULL, 1},
                  {RECMAP_PARTITION_ROW_SPLITS, "s", 0}),
        {.name = "p", .key = "v", .kind = SPARSE, .element = F32, INDICES("x", "y"), SIZES(9, 3)},
        {.name = "o", .key = "t", .kind = SPARSE, .element = STR, INDICES("x"), SIZES(9)},
    };
    assert_int_equal(PARSE(features, RAISE,
                           "v=f:1,2,3,4 n=i:0,2 s=i:0,1,4 x=i:8,1,1,0 y=i:0,2,1,0 "
                           "t=b:one_of_many_bytes,b,two_of_many_bytes,d",
                           ""),
                     RECMAP_OK);
    expect_arrow(0, "large_list<item: large_list<item: fixed_size_list<item: float>[2]>>",
                 "[[[], [[1, 2], [3, 4]]], null]");
    expect_arrow(1, "large_list<item: large_list<item: large_list<item: float>>>",
                 "[[[[1]], [[2, 3, 4]]], null]");
    expect_arrow(2,
                 "recmap:sizes=[9, 3] large_list<item: struct<indices: fixed_size_list<item: "
                 "int64>[2], value: float>>",
                 "[[{indices: [0, 0], value: 4}, {indices: [1, 1], value: 3}, {indices: [1, 2], "
                 "value: 2}, {indices: [8, 0], value: 1}], null]");
    expect_arrow(3,
                 "recmap:sizes=[9] large_list<item: struct<indices: fixed_size_list<item: "
                 "int64>[1], value: binary_view>>",
                 "[[{indices: [0], value: d}, {indices: [1], value: b}, {indices: [1], value: "
                 "two_of_many_bytes}, {indices: [8], value: one_of_many_bytes}], null]");
}

static void test_feature_lists_become_nested_lists(void **state) {
    (void)state;
    const recmap_feature context[] = {
        {.name = "c", .kind = FIXED, .element = STR, DEFAULTS(TEXT("more_than_12_bytes"))}};
    const recmap_feature lists[] = {{.name = "a", .kind = SEQUENCE, .element = I64, SHAPE(2)},
                                    {.name = "b", .kind = VAR, .element = STR}};
    assert_int_equal(parse_sequences(&parsing, context, 1, lists, 2, RECMAP_PARSE_RAISE,
                                     TEXTS("c=b:x | a=[i:1,2] b=[b:][b:u,a_view_of_many_bytes]",
                                           "| a=[i:3,4][i:5,6]"),
                                     &batch),
                     RECMAP_OK);
    expect_arrow(0, "binary_view", "[x, more_than_12_bytes]");
    expect_arrow(1, "large_list<item: fixed_size_list<item: int64>[2]>",
                 "[[[1, 2]], [[3, 4], [5, 6]]]");
    expect_arrow(2, "large_list<item: large_list<item: binary_view>>",
                 "[[[], [u, a_view_of_many_bytes]], null]");
}

/* Columns without rows, and a batch without columns, are exported as empty arrays. */
static void test_empty_batches_become_empty_arrays(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "v", .kind = VAR, .element = STR},
        {.name = "a", .kind = FIXED, .element = I64, SHAPE(2, 2)},
        {.name = "s", .kind = SPARSE, .element = F32, INDICES("x"), SIZES(9)}};
    struct ArrowArray array;
    struct ArrowSchema schema;
    assert_int_equal(
        parse_texts(&parsing, features, 3, RECMAP_PARSE_RAISE, (const char *const[]){NULL}, &batch),
        RECMAP_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            recmap_columns_export_arrow_column(&array, &schema, parsing.columns, i, NULL),
            RECMAP_OK);
        assert_string_equal(arrow_values_text(&array, &schema), "[]");
        array.release(&array);
        schema.release(&schema);
    }
    assert_int_equal(recmap_columns_export_arrow_column(&array, &schema, parsing.columns, 3, NULL),
                     RECMAP_INVALID);
    recmap_columns *none;
    assert_int_equal(recmap_columns_create(&none, NULL), RECMAP_OK);
    assert_int_equal(recmap_columns_export_arrow(&array, &schema, none, NULL), RECMAP_OK);
    recmap_columns_destroy(none);
    assert_string_equal(arrow_type_text(&schema), "struct<>");
    assert_string_equal(arrow_values_text(&array, &schema), "[]");
    array.release(&array);
    schema.release(&schema);
}

static void count_release(void *owner) {
    ++*(int *)owner;
}

static const recmap_feature two[] = {
    {.name = "v", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64},
    {.name = "t", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_BYTES}};

/* A child that was moved away lives on alone, and the owner with it. */
static void test_moved_children_keep_the_owner(void **state) {
    (void)state;
    int released = 0;
    struct ArrowArray array, moved;
    struct ArrowSchema schema, moved_schema;
    assert_int_equal(PARSE(two, RAISE, "v=i:1,2 t=b:one_of_more_than_12_bytes", "v=i:3 t=b:b"),
                     RECMAP_OK);
    recmap_columns_set_owner(parsing.columns, &released, count_release);
    assert_int_equal(recmap_columns_export_arrow(&array, &schema, parsing.columns, NULL),
                     RECMAP_OK);
    assert_string_equal(arrow_type_text(&schema),
                        "struct<v: large_list<item: int64>, t: binary_view>");
    assert_string_equal(arrow_values_text(&array, &schema),
                        "[{v: [1, 2], t: one_of_more_than_12_bytes}, {v: [3], t: b}]");
    moved = *array.children[1];
    moved_schema = *schema.children[1];
    array.children[1]->release = NULL;
    schema.children[1]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    recmap_columns_destroy(parsing.columns);
    recmap_parser_release(parsing.parser);
    parsing = (struct parsing){0};
    assert_int_equal(released, 0);
    assert_string_equal(arrow_values_text(&moved, &moved_schema), "[one_of_more_than_12_bytes, b]");
    moved.release(&moved);
    assert_int_equal(released, 1);
    moved_schema.release(&moved_schema);
}

/* Parsing again does not touch what was exported, and uses its memory again when it is free. */
static void test_exports_outlive_batches(void **state) {
    (void)state;
    enum { ROUNDS = 12 };
    struct ArrowArray arrays[ROUNDS];
    struct ArrowSchema schemas[ROUNDS];
    int released[ROUNDS] = {0};
    struct text_batch batches[ROUNDS];
    assert_int_equal(PARSE(two, RAISE, "t=b:x"), RECMAP_OK);
    for (int i = 0; i < ROUNDS; i++) {
        char text[64];
        snprintf(text, sizeof text, "v=i:%d,%d t=b:number_%d_of_many_bytes", i, i + 1, i);
        batches[i].count = 0;
        batch_add(&batches[i], text, 0);
        assert_int_equal(recmap_parser_parse(parsing.columns, parsing.parser, batches[i].records, 1,
                                             RECMAP_PARSE_RAISE, NULL),
                         RECMAP_OK);
        recmap_columns_set_owner(parsing.columns, &released[i], count_release);
        assert_int_equal(
            recmap_columns_export_arrow(&arrays[i], &schemas[i], parsing.columns, NULL), RECMAP_OK);
    }
    for (int i = ROUNDS - 1; i >= 0; i--) {
        char text[64];
        int number = (i * 5 + 3) % ROUNDS;
        snprintf(text, sizeof text, "[{v: [%d, %d], t: number_%d_of_many_bytes}]", number,
                 number + 1, number);
        assert_string_equal(arrow_values_text(&arrays[number], &schemas[number]), text);
        assert_int_equal(released[number], 0);
        arrays[number].release(&arrays[number]);
        schemas[number].release(&schemas[number]);
        /* The last batch is still the columns'. */
        assert_int_equal(released[number], number != ROUNDS - 1);
    }
    recmap_columns_destroy(parsing.columns);
    parsing.columns = NULL;
    for (int i = 0; i < ROUNDS; i++) assert_int_equal(released[i], 1);
    for (int i = 0; i < ROUNDS; i++) text_batch_deinit(&batches[i]);
}

/* Records as Arrow string views: short ones are stored inline, others refer to the payload. The
 * owner is released exactly once. */
static void test_records_become_string_views(void **state) {
    (void)state;
    int released = 0;
    struct ArrowArray array;
    struct ArrowSchema schema;
    const recmap_record records[] = {
        {.data = (const uint8_t *)"hello", .size = 5},
        {.data = NULL, .size = 0},
        {.data = (const uint8_t *)"a record of more than twelve bytes", .size = 34},
        {.data = (const uint8_t *)"twelve bytes", .size = 12},
        {.data = (const uint8_t *)"thirteen byte", .size = 13},
    };
    assert_int_equal(
        recmap_records_export_arrow(&array, &schema, records, 5, &released, count_release, NULL),
        RECMAP_OK);
    assert_string_equal(arrow_type_text(&schema), "binary_view");
    assert_string_equal(
        arrow_values_text(&array, &schema),
        "[hello, , a record of more than twelve bytes, twelve bytes, thirteen byte]");
    assert_int_equal(array.n_buffers, 2 + 2 + 1);
    assert_ptr_equal(array.buffers[2], records[2].data);
    schema.release(&schema);
    assert_int_equal(released, 0);
    array.release(&array);
    assert_int_equal(released, 1);
    const recmap_record large = {.data = (const uint8_t *)"", .size = (size_t)1 << 31, .number = 7};
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(
        recmap_records_export_arrow(&array, &schema, &large, 1, &released, count_release, &error),
        RECMAP_INVALID);
    assert_int_equal(error.record, 7);
    assert_int_equal(released, 2);
    assert_int_equal(recmap_records_export_arrow(&array, NULL, NULL, 0, NULL, NULL, NULL),
                     RECMAP_OK);
    assert_int_equal(array.length, 0);
    array.release(&array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_each_element_type_has_its_arrow_type),
        TEST(test_fixed_columns_become_fixed_size_lists),
        TEST(test_variable_columns_become_lists),
        TEST(test_ragged_and_sparse),
        TEST(test_feature_lists_become_nested_lists),
        TEST(test_empty_batches_become_empty_arrays),
        TEST(test_moved_children_keep_the_owner),
        TEST(test_exports_outlive_batches),
        TEST(test_records_become_string_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
