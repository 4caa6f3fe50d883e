/* The JSON reader: values that are skipped, and where one that is not JSON stops it. */
#include "base/text/json_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns true if the text begins with a value, and how many bytes the reader passed. The text is
 * copied, so that sanitizers see what is read beyond its end. */
static bool check_value(size_t *passed, const char *text, size_t size) {
    char *copy = malloc(size + !size);
    assert_non_null(copy);
    memcpy(copy, text, size);
    struct json_reader reader = {copy, copy + size};
    bool is_valid = json_check_value(&reader);
    *passed = (size_t)(reader.at - copy);
    free(copy);
    return is_valid;
}

static void expect(const char *text, bool is_valid, size_t expected) {
    size_t passed;
    if (check_value(&passed, text, strlen(text)) != is_valid || passed != expected)
        fail_msg("%s: %s at byte %zu", text, is_valid ? "refused" : "accepted", passed);
}

/* Values of each kind, alone and in nested arrays and objects. What follows is not read. */
static void test_values_of_each_kind_are_read(void **state) {
    (void)state;
    static const char *const values[] = {
        "0",
        "-1.5e+3",
        "true",
        "false",
        "null",
        "NaN",
        "Infinity",
        "-Infinity",
        "\"\"",
        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud800\"",
        "\"]}\xff\"",
        "[]",
        "{}",
        "[1]",
        "[ [ ] , { } ]",
        "{\"a\":1}",
        "{ \"a\" : [ 1 , { \"\" : null } ] , \"b\" : { } }",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[256];
        size_t size = strlen(values[i]);
        expect(values[i], true, size);
        snprintf(text, sizeof text, " \t%s, x", values[i]);
        expect(text, true, size + 2);
        snprintf(text, sizeof text, "[{\"x\": %s}, [[%s]], %s]}", values[i], values[i], values[i]);
        expect(text, true, strlen(text) - 1);
    }
}

static void test_what_is_not_a_value(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t stop; /* the first byte that does not fit */
    } cases[] = {
        {"", 0},           {" ", 1},         {"]", 0},         {",", 0},           {"tru", 0},
        {"nan", 0},        {"-", 1},         {"+1", 0},        {"1.", 2},          {"[01]", 2},
        {"[1", 2},         {"[1,]", 3},      {"[,1]", 1},      {"[1 2]", 3},       {"[1}", 2},
        {"[}", 1},         {"{]", 1},        {"{1:2}", 1},     {"{\"a\"}", 4},     {"{\"a\":}", 5},
        {"{\"a\":1,}", 7}, {"{\"a\" 1}", 5}, {"{\"a\":1]", 6}, {"{\"a\":[1}", 7},  {"\"a", 2},
        {"\"\\x\"", 2},    {"\"\\", 2},      {"\"\\u12", 5},   {"\"\\u12g4\"", 5}, {"\"\n\"", 1},
        {"[\"]", 3},       {"[[[]]", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, false, cases[i].stop);
}

static void test_deep_nesting_is_refused(void **state) {
    (void)state;
    enum { SIZE = 2 * (JSON_DEPTH_MAX + 1) };
    char text[SIZE + 1] = "";
    size_t passed;
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    expect(text, false, JSON_DEPTH_MAX);
    assert_true(check_value(&passed, text + 1, SIZE - 1)); /* the last bracket is left */
    assert_int_equal(passed, SIZE - 2);
}

/* A text that ends too early is refused at its end, or at the word that is cut. */
static void test_cut_texts_are_refused(void **state) {
    (void)state;
    static const char text[] = "{\"a\":[1,true,\"\\u00e9\\n\",{\"b\":null}],\"c\":[[],{}]}";
    size_t passed;
    for (size_t size = 0; size < sizeof text - 1; size++) {
        assert_false(check_value(&passed, text, size));
        assert_in_range(passed, size < 4 ? 0 : size - 4, size);
    }
    assert_true(check_value(&passed, text, sizeof text - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_each_kind_are_read),
        cmocka_unit_test(test_what_is_not_a_value),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_cut_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
