/* A record as JSON. The expected lines are what Python's json_format.MessageToJson gives for the
 * same Example (keys sorted, no spaces, no \u but for control characters). */
#include <recmap/example.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/build.h"

static void check_message(const struct message *message, const char *expected) {
    recmap_text text = RECMAP_TEXT_INIT;
    uint8_t *data = copy_exact(message->data, message->size);
    recmap_record record = {data, message->size, 7, NULL};
    assert_int_equal(recmap_record_to_json(&text, &record, NULL), RECMAP_OK);
    assert_string_equal(text.data, expected);
    assert_int_equal(text.size, strlen(expected));
    recmap_text_deinit(&text);
    free(data);
}

static void check(const char *hex, const char *expected) {
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    check_message(&message, expected);
}

#define FEATURE(json) "{\"features\":{\"feature\":{" json "}}}"

static void test_each_shape_is_written_as_json(void **state) {
    (void)state;
    check("", "{}");
    check("0a00", "{\"features\":{}}");
    check("0a050a030a016b", FEATURE("\"k\":{}"));
    check("0a020a00", FEATURE("\"\":{}"));
    check("0a090a070a016b12021a00", FEATURE("\"k\":{\"int64List\":{}}"));
    check("0a0b0a090a016b120412020a00", FEATURE("\"k\":{\"floatList\":{}}"));
    check("0a0e0a0c0a0361676512051a030a010d",
          FEATURE("\"age\":{\"int64List\":{\"value\":[\"13\"]}}"));
    check("0a0e0a0c0a016b12070a050a01780a00",
          FEATURE("\"k\":{\"bytesList\":{\"value\":[\"eA==\",\"\"]}}"));
    check("0a1e0a1c0a016b12171a150a1380808080808080808001ffffffffffffffff7f",
          FEATURE("\"k\":{\"int64List\":{\"value\":[\"-9223372036854775808\","
                  "\"9223372036854775807\"]}}"));
    /* Names sorted by their bytes; the last of a name counts. */
    check("0a290a0a0a017a12051a030a01010a0a0a016112051a030a01020a0a0a017a12051a030a01030a030a016b",
          FEATURE("\"a\":{\"int64List\":{\"value\":[\"2\"]}},\"k\":{},"
                  "\"z\":{\"int64List\":{\"value\":[\"3\"]}}"));
}

static void test_names_are_escaped(void **state) {
    (void)state;
    struct message message, features, none;
    message.size = features.size = none.size = 0;
    put_entry(&features, "\"\\/\n\r\t\b\f\x01\x1f\x7f\xc2\x9b", 3, &none);
    put_entry(&features, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 3, &none);
    put_hex(&features, "0a070a036b006a1200"); /* k, NUL, j */
    put_sub(&message, 1, &features);
    check_message(&message, FEATURE("\"\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\\u001f\\u007f\\u009b\":"
                                    "{\"int64List\":{}},\"k\\u0000j\":{},"
                                    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\":{\"int64List\":{}}"));
}

/* Floats in JSON, given as the bytes of the record: shortest decimal form, signed zeros, infinities
 * and NaN. */
static void test_floats_are_written_shortest(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        const char *expected;
    } cases[] = {
        {"00000000", "0.0"},
        {"00000080", "-0.0"},
        {"0000803f", "1.0"},
        {"0000c0bf", "-1.5"},
        {"cdcccc3d", "0.1"},
        {"abaaaa3e", "0.33333334"},
        {"17b7d138", "0.0001"},
        {"2d740139", "0.00012345678"},
        {"acc52737", "1e-05"},
        {"0000c842", "100.0"},
        {"38b49649", "1234567.0"},
        {"0000804b", "16777216.0"},
        {"a379eb4c", "123456790.0"},
        {"a95f6358", "1000000000000000.0"},
        {"c91b0e5a", "9999999000000000.0"},
        {"ca1b0e5a", "1e+16"},
        {"b11a0261", "1.5e+20"},
        {"ffff7f7f", "3.4028235e+38"},
        {"00008000", "1.1754944e-38"},
        {"01000000", "1.4013e-45"},
        {"0000807f", "\"Infinity\""},
        {"000080ff", "\"-Infinity\""},
        {"0000c07f", "\"NaN\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char hex[64], expected[128];
        snprintf(hex, sizeof hex, "0a0f0a0d0a016b120812060a04%s", cases[i].hex);
        snprintf(expected, sizeof expected, FEATURE("\"k\":{\"floatList\":{\"value\":[%s]}}"),
                 cases[i].expected);
        check(hex, expected);
    }
}

/* The record's bytes in base64, whatever they are. */
static void check_base64(const char *hex, const char *base64) {
    char expected[256];
    snprintf(expected, sizeof expected, "{\"number\":7,\"base64\":\"%s\"}", base64);
    check(hex, expected);
}

static void test_records_that_are_not_examples(void **state) {
    (void)state;
    check_base64("0a", "Cg==");
    check_base64("ff", "/w==");
    check_base64("0a050a030a01ff", "CgUKAwoB/w==");
}

/* Examples that the mapping cannot hold whole. */
static void test_what_would_be_lost(void **state) {
    (void)state;
    check_base64("1001", "EAE=");                                 /* an unknown field at the top */
    check_base64("120a0a080a0173120312010a", "EgoKCAoBcxIDEgEK"); /* in a feature list */
    check_base64("0a021001", "CgIQAQ==");                         /* in features */
    check_base64("0a040a021801", "CgQKAhgB");                     /* in an entry */
    check_base64("0a060a0412022001", "CgYKBBICIAE=");             /* in a feature */
    check_base64("0a080a0612041a021001", "CggKBhIEGgIQAQ==");     /* in a list */
    check_base64("0a080a06120412020801", "CggKBhIEEgIIAQ==");     /* varint in a float list */
}

/* Protobuf reads these as an Example without values: Examples of a list would be merged into one.
 */
static void test_other_messages_are_written_as_bytes(void **state) {
    (void)state;
#define AGE "0a100a0e0a0c0a0361676512051a030a010d"
    check_base64(AGE, "ChAKDgoMCgNhZ2USBRoDCgEN");
    check_base64(AGE AGE, "ChAKDgoMCgNhZ2USBRoDCgENChAKDgoMCgNhZ2USBRoDCgEN");
    check_base64(AGE "12100a0e0a0c0a0361676512051a030a010d",
                 "ChAKDgoMCgNhZ2USBRoDCgENEhAKDgoMCgNhZ2USBRoDCgEN");
    check_base64("08011208120208031202080222080000803f00000040", /* a tensor */
                 "CAESCBICCAMSAggCIggAAIA/AAAAQA==");
}

/* What no tf.Example holds whole is a SequenceExample, if it is one. */
static void test_sequence_examples_are_written(void **state) {
    (void)state;
    check("1200", "{\"featureLists\":{}}");
    check("0a001200", "{\"context\":{},\"featureLists\":{}}");
    check("12070a050a01611200", "{\"featureLists\":{\"featureList\":{\"a\":{}}}}");
    check(
        "0a0d0a0b0a02696412050a030a0172122b0a040a0012000a0e0a016112090a070a050a000a01710a130a0174"
        "120e0a061a040a0201020a000a021200",
        "{\"context\":{\"feature\":{\"id\":{\"bytesList\":{\"value\":[\"cg==\"]}}}},"
        "\"featureLists\":{\"featureList\":{\"\":{},"
        "\"a\":{\"feature\":[{\"bytesList\":{\"value\":[\"\",\"cQ==\"]}}]},"
        "\"t\":{\"feature\":[{\"int64List\":{\"value\":[\"1\",\"2\"]}},{},{\"floatList\":{}}]}}}}");
    /* In pieces: context and lists twice; a list named twice, of which the last counts; one in two
     * parts, with the name last; numbers one by one and packed. */
    check(
        "12090a070a016112020a000a070a050a0178120012240a15120a0a081a0608050a02060712040a0212000a0162"
        "0a0b0a016112060a021a000a000a070a050a01791200",
        "{\"context\":{\"feature\":{\"x\":{},\"y\":{}}},\"featureLists\":{\"featureList\":{"
        "\"a\":{\"feature\":[{\"int64List\":{}},{}]},"
        "\"b\":{\"feature\":[{\"int64List\":{\"value\":[\"5\",\"6\",\"7\"]}},{\"floatList\":{}}]}}}"
        "}");
}

/* Sequences that the mapping cannot hold whole. */
static void test_sequences_that_would_be_lost(void **state) {
    (void)state;
    check_base64("12001801", "EgAYAQ==");                     /* an unknown field at the top */
    check_base64("12021801", "EgIYAQ==");                     /* in feature lists */
    check_base64("12040a021801", "EgQKAhgB");                 /* in an entry */
    check_base64("12060a0412021801", "EgYKBBICGAE=");         /* in a list */
    check_base64("12080a0612040a022001", "EggKBhIECgIgAQ=="); /* in a step */
    check_base64("0a0210011200", "CgIQARIA");                 /* in the context */
    check_base64("12030a010a", "EgMKAQo=");                   /* an entry that is none */
    check_base64("12070a050a01ff1200", "EgcKBQoB/xIA");       /* a name that is not UTF-8 */
    check_base64("12100a0e120c0a0a120812060a040100c07f",
                 "EhAKDhIMCgoSCBIGCgQBAMB/"); /* a NaN of another kind */
}

/* Any NaN but the one that "NaN" reads back as. */
static void test_odd_nans_are_written_as_base64(void **state) {
    (void)state;
    check_base64("0a0c0a0a120812060a040100c07f", "CgwKChIIEgYKBAEAwH8=");
    check_base64("0a0c0a0a120812060a040000c0ff", "CgwKChIIEgYKBAAAwP8=");
    check_base64("0a0c0a0a120812060a040100807f", "CgwKChIIEgYKBAEAgH8=");
}

/* It appends; what was there stays, and a fallback takes back only its own beginning. */
static void test_it_appends(void **state) {
    (void)state;
    recmap_text text = RECMAP_TEXT_INIT;
    static const uint8_t odd_nan[] = {0x0a, 0x0c, 0x0a, 0x0a, 0x12, 0x08, 0x12,
                                      0x06, 0x0a, 0x04, 0x01, 0x00, 0xc0, 0x7f};
    recmap_record empty = {NULL, 0, 0, NULL}, lossy = {odd_nan, sizeof odd_nan, 12, NULL};
    assert_int_equal(recmap_record_to_json(&text, &empty, NULL), RECMAP_OK);
    assert_int_equal(recmap_record_to_json(&text, &lossy, NULL), RECMAP_OK);
    assert_string_equal(text.data, "{}{\"number\":12,\"base64\":\"CgwKChIIEgYKBAEAwH8=\"}");
    recmap_text_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_shape_is_written_as_json),
        cmocka_unit_test(test_names_are_escaped),
        cmocka_unit_test(test_floats_are_written_shortest),
        cmocka_unit_test(test_records_that_are_not_examples),
        cmocka_unit_test(test_what_would_be_lost),
        cmocka_unit_test(test_other_messages_are_written_as_bytes),
        cmocka_unit_test(test_sequence_examples_are_written),
        cmocka_unit_test(test_sequences_that_would_be_lost),
        cmocka_unit_test(test_odd_nans_are_written_as_base64),
        cmocka_unit_test(test_it_appends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
