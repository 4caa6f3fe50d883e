/* Numbers that a float of 32 bits does not hold closely. */
#include "base/text/rounding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct json_number number_of(const char *text) {
    return (struct json_number){text, strlen(text)};
}

static void test_numbers_that_floats_hold_closely_are_known(void **state) {
    (void)state;
    static const char *const close[] = {
        "0.0",  "-0.0", "0.1",   "16777216", "16777215.4",           "1.5e7",
        "1e30", "1e39", "1e-45", "0",        "-9223372036854775808", "1.8446744073709552e20"};
    static const char *const far[] = {
        "16777217", "-16777217", "1700000000.123",      "9.9e9",           "1e-60",
        "-1e-60",   "4.6e18",    "9223372036854775807", "9007199254740993"};
    for (size_t i = 0; i < sizeof close / sizeof *close; i++) {
        struct json_number number = number_of(close[i]);
        if (rounding_is_far_json(&number)) fail_msg("%s is far", close[i]);
    }
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        struct json_number number = number_of(far[i]);
        if (!rounding_is_far_json(&number)) fail_msg("%s is close", far[i]);
    }
}

static void test_doubles_beyond_2_to_53_are_far(void **state) {
    (void)state;
    assert_false(rounding_is_far_double(0));
    assert_false(rounding_is_far_double(INT64_C(1) << 53));
    assert_false(rounding_is_far_double(INT64_MIN));
    assert_true(rounding_is_far_double((INT64_C(1) << 53) + 1));
    assert_true(rounding_is_far_double(-(INT64_C(1) << 53) - 1));
    assert_true(rounding_is_far_double(INT64_MAX));
}

/* Numbers that a float holds as they are written, and others. */
static void test_floats_hold_some_numbers_as_written(void **state) {
    (void)state;
    static const char *const held[] = {
        "0",         "-0.0",      "0.1",        "0.12345",  "0.123456",           "-123.456",
        "16777216",  "16777218",  "1732752000", "1e30",     "1.1754944e-38",      "0.33333334",
        "0.4781831", "0.5000000", "1E-7",       "3.25e-10", "0.10000000149011612"};
    static const char *const others[] = {"16777217",
                                         "1234567936.5",
                                         "0.123456789",
                                         "1e39",
                                         "1e300",
                                         "1e-60",
                                         "1732752000.123456",
                                         "-1e-300",
                                         "123456790",
                                         "1.2345679e8",
                                         "0.3333333333333333",
                                         "2147483647",
                                         "0.1000000001",
                                         "1e99",
                                         "-5e-324"};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        struct json_number number = number_of(held[i]);
        if (!rounding_is_none_json(&number)) fail_msg("%s is not held", held[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct json_number number = number_of(others[i]);
        if (rounding_is_none_json(&number)) fail_msg("%s is held", others[i]);
    }
}

static void test_texts_of_far_numbers_are_recognised(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_far, is_shortest;
    } cases[] = {
        {"0.1", false, true},
        {"1234568000", true, true},
        {"1.234568e9", true, true},
        {"1234567936", false, false},
        {"1234568001", true, false},
        {"1700000000.123", true, false},
        {"9007199254740993", true, false},
        {"1e-60", true, false},
        {"16777217", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_number number = {cases[i].text, strlen(cases[i].text)};
        float value = (float)json_number_to_double(&number);
        assert_int_equal(rounding_is_far_json(&number), cases[i].is_far);
        assert_int_equal(rounding_is_shortest(&number, value), cases[i].is_shortest);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_that_floats_hold_closely_are_known),
        cmocka_unit_test(test_doubles_beyond_2_to_53_are_far),
        cmocka_unit_test(test_floats_hold_some_numbers_as_written),
        cmocka_unit_test(test_texts_of_far_numbers_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
