/* What a parser can be made of: features that are refused, each with its word, and the names of
 * elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/parse/columns/parse_specs.h"

/* No parser can be made of the feature; the message ends so. */
static void expect_refused(recmap_feature feature, const char *message) {
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_parser_create(&parser, &feature, 1, &error), RECMAP_INVALID);
    assert_null(parser);
    assert_string_equal(error.message, message);
}

/* One mistake per specification, with the message that names the feature and the mistake. */
static void test_features_that_cannot_be(void **state) {
    (void)state;
    const recmap_feature a = {.name = "a", .kind = FIXED, .element = I64};
    recmap_feature f = a;
    f.name = NULL;
    expect_refused(f, "a feature has no name");
    f = a, f.key = "\xff";
    expect_refused(f, "feature 'a': its name is not UTF-8");
    f = a, f.kind = (recmap_feature_kind)9;
    expect_refused(f, "feature 'a': the kind is unknown");
    f = a, f.reserved[3] = 1;
    expect_refused(f, "feature 'a': a reserved member is not 0; a later version may know it");
    f = a, f.element = RECMAP_ELEMENT_NONE;
    expect_refused(f, "feature 'a': the element type is unknown");
    f = a, f.bytes_mode = RECMAP_BYTES_COPY;
    expect_refused(f, "feature 'a': bytes_mode requires BYTES elements");
    f = a, f.unpadded = 1;
    expect_refused(f, "feature 'a': unpadded requires FIXED_LEN_SEQUENCE");
    f = a, f.raw = 1, f.element = STR;
    expect_refused(f, "feature 'a': raw requires an element type other than BYTES");
    f = a, f.dimension_count = 1;
    expect_refused(f, "feature 'a': the shape is NULL");
    f = (recmap_feature){.name = "a", .kind = FIXED, .element = I64, SHAPE(3, 0)};
    expect_refused(f, "feature 'a': a dimension is 0");
    f = (recmap_feature){.name = "a", .kind = FIXED, .element = I64, SHAPE(1 << 16, 1 << 16)};
    expect_refused(f, "feature 'a': the shape has more than 2^31 elements");
    f = (recmap_feature){.name = "a", .kind = VAR, .element = I64, SHAPE(3)};
    expect_refused(f, "feature 'a': only FIXED_LEN, FIXED_LEN_SEQUENCE and SLICED have a shape");
    expect_refused((recmap_feature){.name = "a", .kind = RAGGED, .element = I64},
                   "feature 'a': RAGGED needs a partition");
    expect_refused((recmap_feature){.name = "a", .kind = SPARSE, .element = I64},
                   "feature 'a': SPARSE needs index keys and sizes");
}

/* Defaults of another type, number or range than the feature has, or for a kind without defaults.
 * */
static void test_defaults_that_cannot_be(void **state) {
    (void)state;
    expect_refused((recmap_feature){.name = "a", .kind = FIXED, .element = I64, DEFAULTS(FLOAT(1))},
                   "feature 'a': a default has another type than the feature");
    expect_refused(
        (recmap_feature){
            .name = "a", .kind = FIXED, .element = I64, SHAPE(3), DEFAULTS(INT64(1), INT64(2))},
        "feature 'a': 2 defaults for 3 elements");
    expect_refused(
        (recmap_feature){.name = "a", .kind = VAR, .element = I64, DEFAULTS(INT64(1))},
        "feature 'a': only FIXED_LEN, FIXED_LEN_SEQUENCE, SLICED and IMAGE have a default");
    expect_refused(
        (recmap_feature){
            .name = "a", .kind = FIXED, .element = RECMAP_ELEMENT_INT8, DEFAULTS(INT64(200))},
        "feature 'a': int8 cannot hold a default");
    expect_refused(
        (recmap_feature){
            .name = "a", .kind = SEQUENCE, .element = I64, .unpadded = 1, DEFAULTS(INT64(1))},
        "feature 'a': an unpadded sequence cannot have a default");
    expect_refused((recmap_feature){.name = "a", .kind = FIXED, .element = I64, .max_length = 1},
                   "feature 'a': max_length and pad_to require FIXED_LEN_SEQUENCE");
    expect_refused((recmap_feature){.name = "a", .kind = VAR, .element = I64, .pad_to = 1},
                   "feature 'a': max_length and pad_to require FIXED_LEN_SEQUENCE");
    expect_refused(
        (recmap_feature){.name = "a", .kind = SEQUENCE, .element = I64, .unpadded = 1, .pad_to = 2},
        "feature 'a': an unpadded sequence cannot have pad_to");
    expect_refused(
        (recmap_feature){
            .name = "a", .kind = SEQUENCE, .element = I64, SHAPE(2), .pad_to = (uint64_t)1 << 62},
        "feature 'a': max_length or pad_to is more than 2^31 elements");
    expect_refused(
        (recmap_feature){
            .name = "a", .kind = SEQUENCE, .element = I64, SHAPE(2), DEFAULTS(INT64(1), INT64(2))},
        "feature 'a': there must be exactly one default, for padding");
}

/* All of them must lie within the reach of Arrow's views, 2 GiB. Only sizes are tested. */
static void test_defaults_that_are_too_large(void **state) {
    (void)state;
    const recmap_value half = {.type = RECMAP_TYPE_BYTES,
                               .as.bytes = {(const uint8_t *)"", ((size_t)1 << 30) + 1}};
    expect_refused(
        (recmap_feature){
            .name = "a", .kind = FIXED, .element = STR, SHAPE(2), DEFAULTS(half, half)},
        "feature 'a': the defaults have more than 2 GiB");
}

/* Partitions and indices that lack a part, have an impossible size, or belong to another kind of
 * feature. */
static void test_partitions_that_cannot_be(void **state) {
    (void)state;
    recmap_feature f = {.name = "a",
                        .kind = RAGGED,
                        .element = I64,
                        PARTITIONS({RECMAP_PARTITION_ROW_SPLITS, NULL, 0})};
    expect_refused(f, "feature 'a': a partition has no key");
    f = (recmap_feature){.name = "a",
                         .kind = RAGGED,
                         .element = I64,
                         PARTITIONS({RECMAP_PARTITION_UNIFORM, NULL, 0})};
    expect_refused(f, "feature 'a': a uniform partition has length 0");
    f = (recmap_feature){.name = "a",
                         .kind = RAGGED,
                         .element = I64,
                         PARTITIONS({(recmap_partition_kind)7, "b", 0})};
    expect_refused(f, "feature 'a': the kind of a partition is unknown");
    f = (recmap_feature){.name = "a", .kind = SPARSE, .element = I64, INDICES("i"), SIZES(0)};
    expect_refused(f, "feature 'a': a size is not between 1 and 2^63 - 1");
    f = (recmap_feature){.name = "a", .kind = FIXED, .element = I64, INDICES("i"), SIZES(3)};
    expect_refused(f, "feature 'a': only SPARSE has index keys");
}

static void test_names_that_repeat(void **state) {
    (void)state;
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    const recmap_feature features[] = {{.name = "a", .kind = FIXED, .element = I64},
                                       {.name = "b", .kind = FIXED, .element = I64},
                                       {.name = "a", .key = "c", .kind = VAR, .element = F32}};
    assert_int_equal(recmap_parser_create(&parser, features, 3, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "feature 'a': two features have this name");
    const recmap_feature lists[] = {{.name = "a", .kind = VAR, .element = I64}};
    assert_int_equal(recmap_parser_create_sequence(&parser, features, 2, lists, 1, &error),
                     RECMAP_OK);
    recmap_parser_release(parser);
    assert_int_equal(recmap_parser_create_sequence(&parser, NULL, 0, features, 1, &error),
                     RECMAP_INVALID);
    assert_string_equal(
        error.message, "feature 'a': a feature list must be VAR_LEN, FIXED_LEN_SEQUENCE or SLICED");
    assert_int_equal(recmap_parser_create(&parser, NULL, 1, &error), RECMAP_INVALID);
}

static void test_elements_have_names(void **state) {
    (void)state;
    for (int i = RECMAP_ELEMENT_INT64; i <= RECMAP_ELEMENT_FLOAT64; i++) {
        recmap_element element = (recmap_element)i;
        assert_int_equal(recmap_element_of_name(recmap_element_name(element)), element);
        assert_true(recmap_element_size(element) > 0);
    }
    assert_int_equal(recmap_element_of_name("float"), RECMAP_ELEMENT_FLOAT32);
    assert_int_equal(recmap_element_of_name("string"), RECMAP_ELEMENT_BYTES);
    assert_int_equal(recmap_element_of_name("complex64"), RECMAP_ELEMENT_NONE);
    assert_null(recmap_element_name((recmap_element)99));
    assert_null(recmap_element_name(RECMAP_ELEMENT_NONE));
    assert_int_equal(recmap_element_size((recmap_element)-1), 0);
}

static void test_types_have_names(void **state) {
    (void)state;
    assert_string_equal(recmap_type_name(RECMAP_TYPE_INT64), "int64");
    assert_string_equal(recmap_type_name(RECMAP_TYPE_FLOAT), "float");
    assert_string_equal(recmap_type_name(RECMAP_TYPE_BYTES), "bytes");
    assert_string_equal(recmap_type_name(RECMAP_TYPE_NONE), "none");
    assert_string_equal(recmap_type_name((recmap_type)99), "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_that_cannot_be),
        cmocka_unit_test(test_defaults_that_cannot_be),
        cmocka_unit_test(test_defaults_that_are_too_large),
        cmocka_unit_test(test_partitions_that_cannot_be),
        cmocka_unit_test(test_names_that_repeat),
        cmocka_unit_test(test_elements_have_names),
        cmocka_unit_test(test_types_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
