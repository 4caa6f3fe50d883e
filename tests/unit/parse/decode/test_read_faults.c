/* The errors of records that cannot be read into columns. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/decode/read_check.h"

static void expect_advised(const recmap_feature *feature, const char *hex, recmap_status status,
                           size_t offset, const char *text, const char *advice) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser = NULL;
    recmap_columns *columns = NULL;
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    assert_int_equal(recmap_parser_create(&parser, feature, 1, &error), RECMAP_OK);
    assert_int_equal(recmap_columns_create(&columns, &error), RECMAP_OK);
    recmap_record record = {message.data, message.size, 41, NULL};
    assert_int_equal(recmap_parser_parse(columns, parser, &record, 1, RECMAP_PARSE_RAISE, &error),
                     status);
    assert_string_equal(error.message, text);
    if (advice) assert_string_equal(error.advice, advice);
    assert_true(error.record == 41);
    assert_true(error.offset == (offset == SIZE_MAX ? RECMAP_NO_OFFSET : offset));
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
}

static void expect_fault(const recmap_feature *feature, const char *hex, recmap_status status,
                         size_t offset, const char *text) {
    expect_advised(feature, hex, status, offset, text, NULL);
}

/* Each case is one record with one fault and the complete message. Offsets and names of features
 * are part of it. */
static void test_each_fault_has_its_message(void **state) {
    (void)state;
    static const uint64_t two[] = {2};
    recmap_feature k = scalar("k", RECMAP_ELEMENT_INT64), pair = k, small = k, raw = k, steps = k;
    pair.shape = steps.shape = two;
    pair.dimension_count = steps.dimension_count = 1;
    small.element = RECMAP_ELEMENT_UINT8;
    raw.raw = 1;
    raw.element = RECMAP_ELEMENT_INT16;
    steps.kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
    expect_fault(&k, "", RECMAP_FEATURE, SIZE_MAX, "feature 'k' is missing and has no default");
    expect_fault(&k, "0a070a050a016b1200", RECMAP_FEATURE, SIZE_MAX,
                 "feature 'k' is missing and has no default");
    expect_fault(&pair, "0a0e0a0c0a016b12071a050a03010203", RECMAP_FEATURE, 4,
                 "feature 'k': 3 values where [2] needs 2");
    expect_fault(&k, "0a090a070a016b12021a00", RECMAP_FEATURE, 4,
                 "feature 'k': 0 values where [] needs 1");
    expect_fault(&steps, "0a0e0a0c0a016b12071a050a03010203", RECMAP_FEATURE, 4,
                 "feature 'k': 3 values where steps of [2] need a multiple of 2");
    expect_fault(&k, "0a0f0a0d0a016b120812060a040000803f", RECMAP_FEATURE, 4,
                 "feature 'k' holds float, but int64 was requested");
    expect_fault(&small, "0a0d0a0b0a016b12061a040a02ac02", RECMAP_FEATURE, 13,
                 "feature 'k': value 0 is 300, which uint8 cannot hold");
    expect_fault(&raw, "0a0e0a0c0a016b12070a050a03010203", RECMAP_FEATURE, 4,
                 "feature 'k': 3 bytes where raw int16 needs 2 bytes");
    expect_fault(&raw, "0a0d0a0b0a016b12060a040a000a00", RECMAP_FEATURE, 4,
                 "feature 'k': 2 bytes values with 0 int16 values each where [] needs 1");
    expect_fault(&raw, "0a0f0a0d0a016b12080a060a0201000a00", RECMAP_FEATURE, 17,
                 "feature 'k': bytes value 1 has 0 bytes, which does not fit raw int16 []");
    expect_fault(&raw, "0a090a070a016b12020a00", RECMAP_FEATURE, 4,
                 "feature 'k': 0 bytes values where one is needed that holds raw int16");
    raw.raw = RECMAP_RAW_ZLIB;
    expect_fault(&raw, "0a0d0a0b0a016b12060a040a020100", RECMAP_FEATURE, 13,
                 "feature 'k': bytes value 0 is not a ZLIB stream: it does not begin as one");
    raw.raw = RECMAP_RAW_LITTLE_ENDIAN;
    expect_fault(&k, "0a0c0a0a0a016b12051a030a0180", RECMAP_CORRUPT, 13,
                 "not a tf.Example: feature 'k': varint runs past the end");
    expect_fault(&k, "0a0c0a0a0a01ff12051a030a0180", RECMAP_CORRUPT, 6,
                 "not a tf.Example: feature name is not UTF-8");
    expect_fault(&k, "0a0c0a", RECMAP_CORRUPT, 1, "not a tf.Example: length reaches past the end");
}

/* Raw bytes of another size: both sizes, and the element types that have the size. */
static void test_messages_name_element_types_that_fit(void **state) {
    (void)state;
    static const uint64_t pair[] = {2}, triple[] = {3};
    recmap_feature raw = scalar("k", RECMAP_ELEMENT_UINT8), steps, any;
    raw.raw = RECMAP_RAW_LITTLE_ENDIAN;
    raw.shape = pair;
    raw.dimension_count = 1;
    steps = any = raw;
    steps.kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
    steps.element = RECMAP_ELEMENT_INT32;
    any.kind = RECMAP_FEATURE_VAR_LEN;
    any.element = RECMAP_ELEMENT_FLOAT64;
    any.dimension_count = 0;
    expect_advised(&raw, "0a130a110a016b120c0a0a0a080000803f00000040", RECMAP_FEATURE, 4,
                   "feature 'k': 8 bytes where raw uint8 [2] needs 2 bytes",
                   "the size fits int32 and float32: use `.element = RECMAP_ELEMENT_INT32` or "
                   "`.element = RECMAP_ELEMENT_FLOAT32`");
    expect_advised(&steps, "0a0f0a0d0a016b12080a060a0401020304", RECMAP_FEATURE, 4,
                   "feature 'k': 4 bytes where raw int32 in steps of [2] needs a multiple of 8 "
                   "bytes",
                   "the size fits int16 and float16: use `.element = RECMAP_ELEMENT_INT16` or "
                   "`.element = RECMAP_ELEMENT_FLOAT16`");
    expect_advised(&any, "0a0f0a0d0a016b12080a060a0401020304", RECMAP_FEATURE, 4,
                   "feature 'k': 4 bytes where raw float64 needs a multiple of 8 bytes",
                   "the size fits float32 and int32: use `.element = RECMAP_ELEMENT_FLOAT32` or "
                   "`.element = RECMAP_ELEMENT_INT32`");
    raw.shape = triple;
    expect_advised(&raw, "0a0f0a0d0a016b12080a060a0401020304", RECMAP_FEATURE, 4,
                   "feature 'k': 4 bytes where raw uint8 [3] needs 3 bytes",
                   "`recmap schema --sample 0` shows the sizes in all records; if the bytes are "
                   "encoded, as pictures are, omit `.raw`, and use `.element = "
                   "RECMAP_ELEMENT_BYTES`");
}

/* A tensor of tf.io.serialize_tensor in a feature: float32 [3, 2], of two values. */
static void test_serialized_tensors_are_recognised(void **state) {
    (void)state;
    static const char hex[] =
        "0a210a1f0a016b121a0a180a1608011208120208031202080222080000803f00000040";
    recmap_feature raw = scalar("k", RECMAP_ELEMENT_FLOAT32), plain = raw;
    raw.raw = RECMAP_RAW_LITTLE_ENDIAN;
    expect_advised(&raw, hex, RECMAP_FEATURE, 4,
                   "feature 'k': 22 bytes where raw float32 needs 4 bytes",
                   "the bytes are a tensor that tf.io.serialize_tensor wrote, of float32 [3, 2]: "
                   "omit `.raw`, use `.element = RECMAP_ELEMENT_BYTES` and decode it with "
                   "tf.io.parse_tensor, or write only the bytes of its values");
    expect_advised(&plain, hex, RECMAP_FEATURE, 4,
                   "feature 'k' holds bytes, but float was requested",
                   "the bytes are a tensor that tf.io.serialize_tensor wrote, of float32 [3, 2]: "
                   "use `.element = RECMAP_ELEMENT_BYTES` and decode it with "
                   "tf.io.parse_tensor, or write only the bytes of its values");
}

/* Records of other kinds are refused, even if every feature may be missing. */
static void test_records_of_other_kinds_are_refused(void **state) {
    (void)state;
    static const recmap_value one = {.type = RECMAP_TYPE_INT64, .as.int64 = 1};
    recmap_feature k = scalar("k", RECMAP_ELEMENT_INT64), any = k, replaced = k;
    any.kind = RECMAP_FEATURE_VAR_LEN;
    replaced.defaults = &one;
    replaced.default_count = 1;
    const recmap_feature *const features[] = {&k, &any, &replaced};
    for (size_t i = 0; i < 3; i++) {
        expect_advised(features[i], "09000000000000f83f10032a03616263", RECMAP_CORRUPT, 0,
                       "not a tf.Example, but an event of TensorBoard",
                       "open the files of the data set, without the log of the training");
        expect_fault(features[i], "0a100a0e0a0c0a0361676512051a030a010d", RECMAP_CORRUPT, 0,
                     "not a tf.Example, but an ExampleListWithContext (ELWC)");
        expect_fault(features[i], "1f8b0800000000000003", RECMAP_CORRUPT, 0,
                     "not a tf.Example, but a gzip stream");
    }
}

/* Reads one record, which must be accepted. */
static void expect_empty(const recmap_feature *feature, const char *hex) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser = NULL;
    recmap_columns *columns = NULL;
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    assert_int_equal(recmap_parser_create(&parser, feature, 1, &error), RECMAP_OK);
    assert_int_equal(recmap_columns_create(&columns, &error), RECMAP_OK);
    recmap_record record = {message.data, message.size, 41, NULL};
    if (recmap_parser_parse(columns, parser, &record, 1, RECMAP_PARSE_RAISE, &error) != RECMAP_OK)
        fail_msg("%s", error.message);
    const recmap_column *column = recmap_columns_get(columns, 0);
    assert_null(column->validity); /* empty, not missing */
    assert_int_equal(column->offsets[0][1], 0);
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
}

/* A list without values fits every kind, and then is as empty as one of the requested kind. */
static void test_empty_lists_of_other_kinds(void **state) {
    (void)state;
    static const char *const lists[] = {
        "0a090a070a016b12020a00", /* bytes */
        "0a090a070a016b12021200", /* float */
        "0a090a070a016b12021a00", /* int64 */
    };
    static const recmap_element elements[] = {RECMAP_ELEMENT_BYTES, RECMAP_ELEMENT_FLOAT16,
                                              RECMAP_ELEMENT_INT64, RECMAP_ELEMENT_BOOL};
    for (size_t i = 0; i < 3; i++)
        for (size_t e = 0; e < 4; e++) {
            recmap_feature any = {
                .name = "k", .kind = RECMAP_FEATURE_VAR_LEN, .element = elements[e]};
            expect_empty(&any, lists[i]);
            any.kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
            any.unpadded = 1;
            expect_empty(&any, lists[i]);
            recmap_feature fixed = scalar("k", elements[e]);
            expect_fault(&fixed, lists[i], RECMAP_FEATURE, 4,
                         "feature 'k': 0 values where [] needs 1");
            if (elements[e] == RECMAP_ELEMENT_BYTES) continue;
            fixed.raw = RECMAP_RAW_LITTLE_ENDIAN;
            expect_fault(&fixed, "0a090a070a016b12021200", RECMAP_FEATURE, 4,
                         elements[e] == RECMAP_ELEMENT_FLOAT16
                             ? "feature 'k': 0 bytes values where one is needed that holds raw "
                               "float16"
                         : elements[e] == RECMAP_ELEMENT_INT64
                             ? "feature 'k': 0 bytes values where one is needed that holds raw "
                               "int64"
                             : "feature 'k': 0 bytes values where one is needed that holds raw "
                               "bool");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fault_has_its_message),
        cmocka_unit_test(test_messages_name_element_types_that_fit),
        cmocka_unit_test(test_serialized_tensors_are_recognised),
        cmocka_unit_test(test_records_of_other_kinds_are_refused),
        cmocka_unit_test(test_empty_lists_of_other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
