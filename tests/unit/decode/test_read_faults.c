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

#include "unit/decode/read_check.h"

static void expect_fault(const recmap_feature *feature, const char *hex, recmap_status status,
                         size_t offset, const char *text) {
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
    assert_true(error.record == 41);
    assert_true(error.offset == (offset == SIZE_MAX ? RECMAP_NO_OFFSET : offset));
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
}

/* Each case is one record with one fault and the complete message. Offsets and names of features
 * are part of it. */
static void test_messages(void **state) {
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
                 "feature 'k': 3 bytes are not a whole number of raw int16");
    expect_fault(&raw, "0a0d0a0b0a016b12060a040a000a00", RECMAP_FEATURE, 4,
                 "feature 'k': 2 bytes values where one is needed that holds raw int16");
    expect_fault(&k, "0a0c0a0a0a016b12051a030a0180", RECMAP_CORRUPT, 13,
                 "not a tf.Example: feature 'k': varint runs past the end");
    expect_fault(&k, "0a0c0a0a0a01ff12051a030a0180", RECMAP_CORRUPT, 6,
                 "not a tf.Example: feature name is not UTF-8");
    expect_fault(&k, "0a0c0a", RECMAP_CORRUPT, 1, "not a tf.Example: length reaches past the end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
