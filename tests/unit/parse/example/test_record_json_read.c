/* JSON into records. What is taken and what is refused, and the bytes that come of it, is what
 * Python's json_format.Parse says of the same text, except where that is looser than JSON: it
 * accepts "01", "inf", " 1", true as a float, letters outside base64, and both spellings of one
 * field. */
#include <recmap/example.h>
#include <recmap/example_builder.h>

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/against.h"
#include "unit/parse/example/canonical.h"
#include "unit/parse/example/random_example.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static recmap_example_builder *builder;

/* Reads from memory of exactly that size. */
static recmap_status read_text(const uint8_t **data, size_t *size, const char *text,
                               size_t text_size, recmap_error *error) {
    uint8_t *copy = copy_exact(text, text_size);
    recmap_status status =
        recmap_example_builder_read_json(data, size, builder, (const char *)copy, text_size, error);
    free(copy);
    return status;
}

static void check_bytes(const char *text, const uint8_t *expected, size_t expected_size) {
    recmap_error error = RECMAP_ERROR_INIT;
    const uint8_t *data = NULL;
    size_t size = 0;
    if (read_text(&data, &size, text, strlen(text), &error) != RECMAP_OK)
        fail_msg("%s: byte %d: %s", text, (int)error.offset, error.message);
    if (size != expected_size || memcmp(data, expected, size)) fail_msg("%s: other bytes", text);
}

static void check(const char *text, const char *hex) {
    struct message message = {.size = 0};
    put_hex(&message, hex);
    check_bytes(text, message.data, message.size);
}

static void check_refused_at(const char *text, uint64_t offset, const char *reason) {
    recmap_error error = RECMAP_ERROR_INIT;
    const uint8_t *data = NULL;
    size_t size = 7;
    if (read_text(&data, &size, text, strlen(text), &error) != RECMAP_INVALID)
        fail_msg("%s: it was taken", text);
    assert_true(!data && size == 7 && error.status == RECMAP_INVALID);
    assert_true(error.record == RECMAP_NO_RECORD && !error.path[0]);
    if (offset != RECMAP_NO_OFFSET && error.offset != offset)
        fail_msg("%s: byte %d: %s", text, (int)error.offset, error.message);
    if (reason) assert_string_equal(error.message, reason);
    assert_true(error.offset <= strlen(text));
}

static void check_refused(const char *text) {
    check_refused_at(text, RECMAP_NO_OFFSET, NULL);
}

#define FEATURE(json) "{\"features\":{\"feature\":{\"k\":" json "}}}"

/* One value in a list, whose packed bytes are these; NULL: it is refused. */
static void check_value(const char *list, uint32_t field, const char *value, const char *hex) {
    char text[256];
    struct message message = {.size = 0}, features = {.size = 0}, bytes = {.size = 0},
                   values = {.size = 0};
    snprintf(text, sizeof text, FEATURE("{\"%s\":{\"value\":[%s]}}"), list, value);
    if (!hex) {
        check_refused(text);
        return;
    }
    put_hex(&bytes, hex);
    put_sub(&values, 1, &bytes);
    put_entry(&features, "k", field, &values);
    put_sub(&message, 1, &features);
    check_bytes(text, message.data, message.size);
}

struct value_case {
    const char *value;
    const char *hex;
};

/* Spellings of an integer that protobuf's JSON parser accepts, with the value's varint. */
static void test_spellings_of_integers_are_read(void **state) {
    (void)state;
    static const struct value_case cases[] = {
        {"1", "01"},
        {"-1", "ffffffffffffffffff01"},
        {"\"1\"", "01"},
        {"1.0", "01"},
        {"1e3", "e807"},
        {"\"1e3\"", "e807"},
        {"\"1.0\"", "01"},
        {"1E2", "64"},
        {"1e+2", "64"},
        {"100e-2", "01"},
        {"-0", "00"},
        {"\"-0\"", "00"},
        {"0e999999999999999999999", "00"},
        {"\"\\u0031\"", "01"},
        {" \t\r\n1 ", "01"},
        {"9223372036854775807", "ffffffffffffffff7f"},
        {"922337203685477580700e-2", "ffffffffffffffff7f"},
        {"\"-9223372036854775808\"", "80808080808080808001"},
        {"-9.223372036854775808e18", "80808080808080808001"},
        {"9223372036854775808", NULL},
        {"-9223372036854775809", NULL},
        {"18446744073709551617", NULL},
        {"1e19", NULL},
        {"1e400", NULL},
        {"1e99999999999999999999", NULL},
        {"1.5", NULL},
        {"1e-1", NULL},
        {"\"1.5\"", NULL},
        {"01", NULL},
        {"\"01\"", NULL},
        {"\" 1\"", NULL},
        {"\"1 \"", NULL},
        {"\"+1\"", NULL},
        {"\"1_0\"", NULL},
        {"\"0x10\"", NULL},
        {"\"\"", NULL},
        {"\"a\"", NULL},
        {"\"NaN\"", NULL},
        {"0x10", NULL},
        {"-", NULL},
        {"+1", NULL},
        {".5", NULL},
        {"5.", NULL},
        {"1e", NULL},
        {"1,", NULL},
        {"1 2", NULL},
        {"true", NULL},
        {"null", NULL},
        {"[1]", NULL},
        {"{}", NULL},
        {"NaN", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_value(i % 2 ? "int64List" : "int64_list", 3, cases[i].value, cases[i].hex);
}

/* Spellings of a float, with its four bytes. Values between two floats are rounded to the nearest.
 * */
static void test_spellings_of_floats_are_rounded_to_nearest(void **state) {
    (void)state;
    static const struct value_case cases[] = {
        {"1", "0000803f"},
        {"\"1\"", "0000803f"},
        {"1.5", "0000c03f"},
        {"\"1.5\"", "0000c03f"},
        {"-0.0", "00000080"},
        {"-0", "00000080"},
        {"0.1", "cdcccc3d"},
        {"16777217", "0000804b"},
        {"\"NaN\"", "0000c07f"},
        {"\"N\\u0061N\"", "0000c07f"},
        {"\"Infinity\"", "0000807f"},
        {"\"-Infinity\"", "000080ff"},
        {"3.4028235e38", "ffff7f7f"},
        {"340282350000000000000000000000000000000.0", "ffff7f7f"},
        {"3.4028235677973362e38", "ffff7f7f"},
        {"1e-50", "00000000"},
        {"-1e-99999999999999999999", "00000080"},
        {"1.4e-45", "01000000"},
        {"0.000000000000000000000000000000000000000000001401298464324817", "01000000"},
        {"3.4028235677973366e38", NULL},
        {"1e39", NULL},
        {"\"1e39\"", NULL},
        {"-1e999", NULL},
        {"1e99999999999999999999", NULL},
        {"NaN", NULL},
        {"Infinity", NULL},
        {"-Infinity", NULL},
        {"\"nan\"", NULL},
        {"\"inf\"", NULL},
        {"\"-NaN\"", NULL},
        {"\" 1\"", NULL},
        {"\"1 \"", NULL},
        {"\"\"", NULL},
        {"1e", NULL},
        {"1.", NULL},
        {".1", NULL},
        {"true", NULL},
        {"null", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_value(i % 2 ? "floatList" : "float_list", 2, cases[i].value, cases[i].hex);
}

/* Both alphabets of base64, with and without padding. */
static void test_both_alphabets_of_base64_are_read(void **state) {
    (void)state;
    static const struct value_case cases[] = {
        {"\"\"", ""},
        {"\"eA==\"", "78"},
        {"\"eA\"", "78"},
        {"\"eB==\"", "78"},
        {"\"eHg=\"", "7878"},
        {"\"eHg\"", "7878"},
        {"\"eHg\\u003d\"", "7878"},
        {"\"AAECA\\/8=\"", "00010203ff"},
        {"\"-_-_\"", "fbffbf"},
        {"\"+/+/\"", "fbffbf"},
        {"\"+_-/\"", "fbffbf"},
        {"\"e\"", NULL},
        {"\"eA=\"", NULL},
        {"\"eA=a\"", NULL},
        {"\"eA==eA==\"", NULL},
        {"\"eH g=\"", NULL},
        {"\"eA==\\n\"", NULL},
        {"\"=\"", NULL},
        {"\"===\"", NULL},
        {"\"====\"", NULL},
        {"\"\xc3\xa9\"", NULL},
        {"1", NULL},
        {"null", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_value(i % 2 ? "bytesList" : "bytes_list", 1, cases[i].value, cases[i].hex);
}

static void test_messages_are_read(void **state) {
    (void)state;
    check("{}", "");
    check(" \n\t\r{ \"features\" : { } } ", "0a00");
    check("{\"f\\u0065atures\":{}}", "0a00");
    check("{\"features\":null}", "");
    check("{\"features\":{\"feature\":null}}", "0a00");
    check(FEATURE("{}"), "0a070a050a016b1200");
    check(FEATURE("{\"int64List\":null}"), "0a070a050a016b1200");
    check(FEATURE("{\"int64List\":null,\"floatList\":{}}"), "0a090a070a016b12021200");
    check(FEATURE("{\"int64List\":{\"value\":null}}"), "0a090a070a016b12021a00");
    check(FEATURE("{\"int64List\":{\"value\":[]}}"), "0a090a070a016b12021a00");
    check("{\"features\":{\"feature\":{\"b\":{},\"\":{},\"ab\":{},\"a\":{}}}}",
          "0a1c0a040a0012000a050a016112000a060a02616212000a050a01621200");
    check("{\"features\":{\"feature\":{\"\\u00e9\\/"
          "\\b\\f\\n\\r\\t\\\"\\\\\\ud83d\\ude00k\\u0000\":{}}}}",
          "0a160a140a10c3a92f080c0a0d09225cf09f98806b001200");
}

static void test_sequence_examples_are_read(void **state) {
    (void)state;
    check("{\"context\":null}", "");
    check("{\"context\":{}}", "0a00");
    check("{\"context\":{},\"featureLists\":{}}", "0a001200");
    check("{\"feature_lists\":{\"feature_list\":null}}", "1200");
    check("{\"featureLists\":{\"featureList\":{\"a\":{\"feature\":null}}}}", "12070a050a01611200");
    check("{\"featureLists\":{\"featureList\":{\"t\":{\"feature\":[{\"int64List\":{\"value\":[1,"
          "\"2\"]}},{},"
          "{\"float_list\":{}}]},\"a\":{\"feature\":[{\"bytesList\":{\"value\":[\"\",\"cQ\"]}}]},"
          "\"\":{}}},"
          "\"context\":{\"feature\":{\"id\":{\"bytesList\":{\"value\":[\"cg==\"]}}}}}",
          "0a0d0a0b0a02696412050a030a0172122b0a040a0012000a0e0a016112090a070a050a000a01710a130a0174"
          "120e0a061a040a0201020a000a021200");
}

static void test_records_in_base64_are_read(void **state) {
    (void)state;
    check("{\"number\":1,\"base64\":\"CgA=\"}", "0a00");
    check("{\"base64\":\"\"}", "");
    check("{\"base64\":\"_w\",\"number\":18446744073709551615}", "ff");
    check_refused("{\"number\":1}");
    check_refused("{\"base64\":null}");
    check_refused("{\"number\":-1,\"base64\":\"\"}");
    check_refused("{\"base64\":\"\",\"features\":{}}");
    check_refused("{\"base64\":\"*\"}");
}

/* Text that is not such JSON, and the byte where it fails. */
static void test_refused_text_is_named_by_byte(void **state) {
    (void)state;
    check_refused_at("", 0, "expected '{'");
    check_refused_at(" [", 1, "expected '{'");
    check_refused_at("null", 0, NULL);
    check_refused_at("{} {}", 3, "unexpected text after the object");
    check_refused_at("{\"features\":{}", 14, "expected ',' or '}'");
    check_refused_at("{\"features\":{},}", 15, "expected a string");
    check_refused_at("{features:{}}", 1, NULL);
    check_refused_at("{\"features\"{}}", 11, "expected ':'");
    check_refused_at("{\"features\":[]}", 12, NULL);
    check_refused_at("{\"features\":nul}", 12, NULL);
    check_refused_at("{\"feature\":{}}", 1, "unknown field 'feature'");
    check_refused_at("{\"x\":null}", 1, "unknown field 'x'");
    check_refused_at("{\"features\":{},\"features\":{}}", 15, "duplicate field 'features'");
    check_refused_at("{\"feature_lists\":{},\"featureLists\":{}}", 20,
                     "duplicate field 'featureLists'");
    check_refused_at("{\"features\":{},\"context\":{}}", 15,
                     "field 'context' belongs to another message");
    check_refused_at("\xef\xbb\xbf{}", 0, NULL);
    check_refused_at(FEATURE("null"), 28, "feature 'k': expected '{'");
    check_refused_at(FEATURE("{\"int64List\":[]}"), 41, NULL);
    check_refused_at(FEATURE("{\"int64List\":{},\"floatList\":{}}"), 56,
                     "feature 'k': a feature can have only one kind");
    check_refused_at(FEATURE("{\"int64List\":{},\"int64_list\":{}}"), 44, NULL);
    check_refused_at(FEATURE("{\"int64List\":{\"value\":1}}"), 50, NULL);
    check_refused_at(FEATURE("{\"int64List\":{\"value\":[12,x]}}"), 54,
                     "feature 'k': expected a number");
    check_refused_at(FEATURE("{\"int64List\":{\"value\":[1,\"x\"]}}"), 53,
                     "feature 'k': the string is not a number");
    check_refused_at(FEATURE("{\"bytesList\":{\"value\":[\"ab*d\"]}}"), 54,
                     "feature 'k': invalid base64");
    check_refused_at("{\"features\":{\"feature\":{\"a\":{},\"b\":{},\"\\u0061\":{}}}}", 38,
                     "duplicate feature name");
    check_refused_at("{\"featureLists\":{\"featureList\":{\"a\":{},\"a\":{}}}}", 39,
                     "duplicate feature name");
    check_refused_at("{\"featureLists\":{\"featureList\":{\"a\":{\"feature\":[null]}}}}", 48, NULL);
    check_refused_at("{\"featureLists\":{\"featureList\":{\"a\":null}}}", 36, NULL);
    check_refused_at("{\"feat\nures\":{}}", 6, "the string is incomplete or not UTF-8");
    check_refused_at("{\"feat\\x41\":{}}", 7, NULL);
    check_refused_at("{\"feat\\u12g4\":{}}", 10, NULL);
    check_refused_at("{\"feat\xff\":{}}", 2, NULL);
    check_refused("{\"features\":{\"feature\":{\"\\ud800\":{}}}}");
    check_refused("{\"features\":{\"feature\":{\"\\ude00\":{}}}}");
    check_refused("{\"features\":{\"feature\":{\"\\ud83d\\u0041\":{}}}}");
    check_refused("{\"features\":{\"feature\":{\"\xed\xa0\x80\":{}}}}");
    check_refused("{\"features\":{\"feature\":{\"k\":{\"int64List\":{\"value\":[1]}}}}}}");
}

/* Deep nesting is refused at its first step into the unknown. */
static void test_deep_nesting_is_refused(void **state) {
    (void)state;
    enum { DEPTH = 1 << 20 };
    char *text = malloc(DEPTH + 64);
    assert_non_null(text);
    for (const char *bracket = "[{"; *bracket; bracket++) {
        recmap_error error = RECMAP_ERROR_INIT;
        const uint8_t *data;
        size_t size, head = (size_t)snprintf(text, 64, "{\"features\":");
        memset(text + head, *bracket, DEPTH);
        assert_int_equal(read_text(&data, &size, text, head + DEPTH, &error), RECMAP_INVALID);
        assert_true(error.offset <= head + 1);
    }
    free(text);
}

/* Every cut of a text is refused. */
static void test_every_cut_is_refused(void **state) {
    (void)state;
    static const char text[] =
        "{\"context\":{\"feature\":{\"a\\n\":{\"floatList\":{\"value\":[1.5e1,\"NaN\"]}}}},"
        "\"featureLists\":"
        "{\"featureList\":{\"t\":{\"feature\":[{\"int64List\":{\"value\":[\"1\"]}},{}]}}}}";
    const uint8_t *data;
    size_t size;
    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_int_equal(read_text(&data, &size, text, i, NULL), RECMAP_INVALID);
    assert_int_equal(read_text(&data, &size, text, sizeof text - 1, NULL), RECMAP_OK);
}

/* A record over JSON and back: `expected` it is then, and the JSON is the same again. */
static void check_round_trip(const uint8_t *data, size_t size, const uint8_t *expected,
                             size_t expected_size) {
    recmap_text json = RECMAP_TEXT_INIT, again = RECMAP_TEXT_INIT;
    recmap_record record = {data, size, 7, NULL};
    recmap_error error = RECMAP_ERROR_INIT;
    const uint8_t *back;
    size_t back_size;
    assert_int_equal(recmap_record_to_json(&json, &record, NULL), RECMAP_OK);
    if (read_text(&back, &back_size, json.data, json.size, &error) != RECMAP_OK)
        fail_msg("byte %d: %s: %s", (int)error.offset, error.message, json.data);
    if (back_size != expected_size || memcmp(back, expected, back_size))
        fail_msg("other bytes: %s", json.data);
    recmap_record second = {back, back_size, 7, NULL};
    assert_int_equal(recmap_record_to_json(&again, &second, NULL), RECMAP_OK);
    assert_string_equal(json.data, again.data);
    recmap_text_deinit(&json);
    recmap_text_deinit(&again);
}

static bool is_base64(const uint8_t *data, size_t size) {
    recmap_text json = RECMAP_TEXT_INIT;
    recmap_record record = {data, size, 7, NULL};
    assert_int_equal(recmap_record_to_json(&json, &record, NULL), RECMAP_OK);
    bool is = !strncmp(json.data, "{\"number\"", 9);
    recmap_text_deinit(&json);
    return is;
}

struct tally {
    unsigned as_they_were; /* base64 */
    unsigned canonical;
};

static void round_trip(struct tally *tally, const uint8_t *data, size_t size) {
    uint8_t *expected;
    size_t expected_size;
    if (is_base64(data, size)) {
        tally->as_they_were++;
        check_round_trip(data, size, data, size);
    } else if (!find_departures(data, size) && canonical(&expected, &expected_size, data, size)) {
        tally->canonical++;
        check_round_trip(data, size, expected, expected_size);
        free(expected);
    }
}

static void test_random_round_trips(void **state) {
    (void)state;
    static const struct oddness shapes[] = {{0, 0, 0, 0}, {5, 5, 50, 2}};
    struct tally tally = {0};
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        struct random_state random = {21 + shape};
        for (unsigned i = 0; i < 20000; i++) {
            struct message message;
            random_example(&message, &random, &shapes[shape]);
            round_trip(&tally, message.data, message.size);
        }
    }
    assert_true(tally.as_they_were > 1000 && tally.canonical > 10000);
}

/* Features of one random Example as context, and of others as steps. */
static void test_random_sequences_read_back(void **state) {
    (void)state;
    static const struct oddness none = {0, 0, 0, 0};
    struct random_state random = {31};
    struct tally tally = {0};
    for (unsigned i = 0; i < 5000; i++) {
        struct message message, lists = {.size = 0}, whole = {.size = 0};
        random_example(&whole, &random, &none);
        for (uint64_t names = draw_below(&random, 4); names; names--) {
            static const char *const list_names[] = {"a", "b", "ba", "\xc3\xa9"};
            const char *name = list_names[draw_below(&random, 4)];
            struct message list = {.size = 0}, entry = {.size = 0};
            for (uint64_t steps = draw_below(&random, 4); steps; steps--) {
                struct message step = {.size = 0}, values = {.size = 0};
                put_varint(&values, random_next(&random));
                struct message int64s = {.size = 0};
                put_sub(&int64s, 1, &values);
                if (draw_below(&random, 4)) put_sub(&step, 3, &int64s);
                put_sub(&list, 1, &step);
            }
            put_bytes(&entry, 1, name, strlen(name));
            if (draw_below(&random, 8)) put_sub(&entry, 2, &list);
            put_sub(&lists, 1, &entry);
        }
        message = whole;
        put_sub(&message, 2, &lists);
        round_trip(&tally, message.data, message.size);
    }
    assert_true(tally.canonical > 2000);
}

/* The decimal point of the process's locale is not JSON's. */
static void test_the_locale_does_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    bool is_set = false;
    for (size_t i = 0; !is_set && i < COUNT(names); i++) is_set = setlocale(LC_ALL, names[i]);
    check(FEATURE("{\"floatList\":{\"value\":[1.5]}}"), "0a0f0a0d0a016b120812060a040000c03f");
    setlocale(LC_ALL, "C");
    if (!is_set) {
        print_message("skipped: no locale with a decimal comma\n");
        skip();
    }
}

/* Far more digits than any double has: half way between two doubles, then a bit above. (Between
 * floats the way over doubles rounds twice, as it does in protobuf.) */
static void test_long_numbers_are_rounded_once(void **state) {
    (void)state;
    enum { ZEROS = 5000 };
    static const struct {
        const char *head, *tail, *hex;
    } cases[] = {
        {"16777217", "", "0000804b"},
        {"0.", "e5001", "00000000"},
        {"1", "e-5000", "0000803f"},
        {"0.00000", "1e5007", "00002041"},
        /* 1 + 2^-24 + 2^-53: a double's half; then a digit that makes it more, and so the float. */
        {"1.00000005960464488641292746251565404236316680908203125", "", "0000803f"},
        {"1.00000005960464488641292746251565404236316680908203125", "1", "0100803f"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = malloc(ZEROS + 512), expected[64];
        assert_non_null(text);
        int size = snprintf(text, 256, "%s%s",
                            "{\"features\":{\"feature\":{\"k\":{\"floatList\":"
                            "{\"value\":[",
                            cases[i].head);
        bool is_whole = !strchr(cases[i].head, '.') && !cases[i].tail[0];
        int zeros = is_whole ? 0 : ZEROS;
        memset(text + size, '0', (size_t)zeros);
        snprintf(text + size + zeros, 256, "%s]}}}}}", cases[i].tail);
        snprintf(expected, sizeof expected, "0a0f0a0d0a016b120812060a04%s", cases[i].hex);
        check(text, expected);
        free(text);
    }
}

static int enter(void **state) {
    (void)state;
    return recmap_example_builder_create(&builder, NULL) != RECMAP_OK;
}

static int leave(void **state) {
    (void)state;
    recmap_example_builder_destroy(builder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings_of_integers_are_read),
        cmocka_unit_test(test_spellings_of_floats_are_rounded_to_nearest),
        cmocka_unit_test(test_both_alphabets_of_base64_are_read),
        cmocka_unit_test(test_messages_are_read),
        cmocka_unit_test(test_sequence_examples_are_read),
        cmocka_unit_test(test_records_in_base64_are_read),
        cmocka_unit_test(test_refused_text_is_named_by_byte),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_random_round_trips),
        cmocka_unit_test(test_random_sequences_read_back),
        cmocka_unit_test(test_the_locale_does_not_matter),
        cmocka_unit_test(test_long_numbers_are_rounded_once),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
