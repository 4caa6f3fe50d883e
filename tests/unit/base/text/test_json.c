/* The JSON writer: numbers, strings, base64, commas, and what is UTF-8. */
#include "base/text/json.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The writer under test writes here; expect() compares and empties it. */
static recmap_text text;

static void expect(const char *expected) {
    assert_string_equal(text.data, expected);
    assert_int_equal(text.size, strlen(expected));
    text.size = 0;
}

static int free_text(void **state) {
    (void)state;
    recmap_text_deinit(&text);
    assert_null(text.data);
    recmap_text_deinit(NULL);
    return 0;
}

/* Nested values of every kind in one text. Commas and colons are the writer's task, so the complete
 * text is compared. */
static void test_nested_values_are_written_as_one_text(void **state) {
    (void)state;
    struct json_writer json = json_begin(&text);
    json_open(&json, '{');
    json_key(&json, "a");
    json_open(&json, '[');
    json_uint64(&json, UINT64_MAX);
    json_int64(&json, INT64_MIN);
    json_int64_string(&json, -5);
    json_open(&json, '{');
    json_close(&json, '}');
    json_none(&json);
    json_close(&json, ']');
    json_key(&json, "b");
    json_open(&json, '[');
    json_close(&json, ']');
    json_key_sized(&json, "c\0d", 3);
    json_uint64(&json, 1);
    json_key(&json, "");
    json_uint64(&json, 0);
    json_key(&json, "h");
    json_hex(&json, (const uint8_t *)"\x00\x9f\xff", 3);
    json_close(&json, '}');
    assert_false(json.failed);
    expect("{\"a\":[18446744073709551615,-9223372036854775808,\"-5\",{},null],\"b\":[],"
           "\"c\\u0000d\":1,\"\":0,\"h\":\"009fff\"}");
}

/* Characters that JSON escapes, and those around the limits of what it must escape. */
static void test_strings_are_escaped(void **state) {
    (void)state;
    static const struct {
        const char *value;
        const char *expected;
    } cases[] = {
        {"", "\"\""},
        {"plain / text", "\"plain / text\""},
        {"\"\\\n\r\t\b\f", "\"\\\"\\\\\\n\\r\\t\\b\\f\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_writer json = json_begin(&text);
        json_text(&json, cases[i].value);
        expect(cases[i].expected);
    }
}

/* As Python's os.fsdecode and json.dumps write them. */
static void test_paths_are_written_as_python_writes_them(void **state) {
    (void)state;
    struct json_writer json = json_begin(&text);
    json_path(&json, "d\xff/\xc3\xa9\n\xe2\x82");
    expect("\"d\\udcff/\xc3\xa9\\n\\udce2\\udc82\"");
}

static void test_bytes_are_written_as_base64(void **state) {
    (void)state;
    static const char *const expected[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                           "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t size = 0; size <= 6; size++) {
        char quoted[32];
        struct json_writer json = json_begin(&text);
        json_base64(&json, "foobar", size);
        snprintf(quoted, sizeof quoted, "\"%s\"", expected[size]);
        expect(quoted);
    }
    struct json_writer json = json_begin(&text);
    json_base64(&json, "\xff\xef\xbe\xfb\xf0\x3f", 6);
    expect("\"/+++"
           "+/A/\"");
}

/* Values with their known shortest text. NaN and infinities have none in JSON. */
static void test_doubles_have_their_shortest_text(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *expected;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {0.1, "0.1"},
        {0.25, "0.25"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {1e100, "1e+100"},
        {1e-300, "1e-300"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {NAN, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_writer json = json_begin(&text);
        json_double(&json, cases[i].value);
        expect(cases[i].expected);
    }
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Every float reads back as itself, in the fewest of 6 to 9 digits. */
static void test_floats_read_back(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        float value = float_of((uint32_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 32));
        if (!isfinite(value)) continue;
        struct json_writer json = json_begin(&text);
        json_float(&json, value);
        assert_true((float)strtod(text.data, NULL) == value);
        assert_true(strpbrk(text.data, ".e") != NULL);
        unsigned digits = 0, wanted = 6;
        bool leading = true;
        for (const char *cursor = text.data; *cursor && *cursor != 'e'; cursor++) {
            if (*cursor == '0' && leading) continue;
            if (*cursor < '0' || *cursor > '9') continue;
            leading = false;
            digits++;
        }
        for (char shortest[40]; wanted < 9; wanted++) {
            snprintf(shortest, sizeof shortest, "%.*e", (int)wanted - 1, (double)value);
            if ((float)strtod(shortest, NULL) == value) break;
        }
        /* Zeros before the decimal point and the one after it are not significant digits. */
        if (strchr(text.data, 'e')) assert_true(digits <= wanted);
        text.size = 0;
    }
}

/* Values given as bits, with their known shortest text. It is shorter than the text of the same
 * value as a double. */
static void test_floats_have_their_shortest_text(void **state) {
    (void)state;
    static const struct {
        uint32_t bits;
        const char *expected;
    } cases[] = {
        {0x00000000, "0.0"},
        {0x80000000, "-0.0"},
        {0x3f800000, "1.0"},
        {0x3dcccccd, "0.1"},
        {0x3eaaaaab, "0.33333334"},
        {0x38d1b717, "0.0001"},
        {0x3727c5ac, "1e-05"},
        {0x4b800000, "16777216.0"},
        {0x5a0e1bc9, "9999999000000000.0"},
        {0x5a0e1bca, "1e+16"},
        {0x7f7fffff, "3.4028235e+38"},
        {0x00000001, "1.4013e-45"},
        {0x7f800000, "\"Infinity\""},
        {0xff800000, "\"-Infinity\""},
        {0x7fc00000, "\"NaN\""},
        {0xffc00001, "\"NaN\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_writer json = json_begin(&text);
        json_float(&json, float_of(cases[i].bits));
        expect(cases[i].expected);
    }
}

/* The plain reading of the standard: decode, then see whether it had to be so long. */
static bool utf8_valid_slowly(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size;) {
        uint8_t first = data[i];
        size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : 3;
        if (first >> 6 == 2 || first >= 0xf8 || more >= size - i) return false;
        uint32_t code = more == 0 ? first : first & (0x3fu >> more);
        for (size_t k = 1; k <= more; k++) {
            if (data[i + k] >> 6 != 2) return false;
            code = code << 6 | (data[i + k] & 0x3fu);
        }
        static const uint32_t min[] = {0, 0x80, 0x800, 0x10000};
        if (code < min[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
        i += more + 1;
    }
    return true;
}

/* Every sequence of up to three bytes, and sequences of four around each boundary; alone, and after
 * ASCII text, which is skipped eight bytes at a time. */
static void test_invalid_utf8_is_recognised(void **state) {
    (void)state;
    static const uint8_t borders[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
                                      0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xee, 0xef, 0xf0, 0xf1,
                                      0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xfe, 0xff};
    enum { BORDERS = sizeof borders };
    unsigned valid = 0;
    for (uint32_t code = 0; code < 1u << 24; code += code < 1u << 16 ? 1 : 7) {
        uint8_t bytes[3] = {(uint8_t)(code >> 16), (uint8_t)(code >> 8), (uint8_t)code};
        bool good = utf8_valid_slowly(bytes, 3);
        if (utf8_valid(bytes, 3) != good) fail_msg("%06x", code);
        valid += good;
    }
    assert_true(valid > 100000);
    for (unsigned i = 0; i < BORDERS * BORDERS * BORDERS * BORDERS; i++) {
        uint8_t bytes[16] = "ascii-12";
        unsigned rest = i;
        for (unsigned k = 0; k < 4; k++, rest /= BORDERS) bytes[8 + k] = borders[rest % BORDERS];
        bool good = utf8_valid_slowly(bytes + 8, 4);
        for (size_t from = 0; from <= 8; from++)
            assert_int_equal(utf8_valid(bytes + from, 12 - from), good);
    }
}

/* Text that could not be written completely is removed again; earlier text is kept. */
static void test_incomplete_text_is_removed_again(void **state) {
    (void)state;
    struct json_writer json = json_begin(&text);
    json_text(&json, "a");
    assert_int_equal(json_end(&json, NULL), RECMAP_OK);
    json = json_begin(&text);
    json_open(&json, '[');
    json_restart(&json);
    json_text(&json, "b");
    assert_int_equal(json_end(&json, NULL), RECMAP_OK);
    json = json_begin(&text);
    json_text(&json, "c");
    json.failed = true;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(json_end(&json, &error), RECMAP_NO_MEMORY);
    assert_int_equal(error.status, RECMAP_NO_MEMORY);
    expect("\"a\"\"b\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_values_are_written_as_one_text),
        cmocka_unit_test(test_strings_are_escaped),
        cmocka_unit_test(test_bytes_are_written_as_base64),
        cmocka_unit_test(test_doubles_have_their_shortest_text),
        cmocka_unit_test(test_floats_have_their_shortest_text),
        cmocka_unit_test(test_floats_read_back),
        cmocka_unit_test(test_paths_are_written_as_python_writes_them),
        cmocka_unit_test(test_invalid_utf8_is_recognised),
        cmocka_unit_test(test_incomplete_text_is_removed_again),
    };
    return cmocka_run_group_tests(tests, NULL, free_text);
}
