/* Numbers that a float of 32 bits does not hold closely. */
#include "base/rounding.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_numbers(void **state) {
    (void)state;
    const double close[] = {0.0,  -0.0,     0.1,      0x1p24,    16777215.4, 0x1.8p40, 1e30,
                            1e39, 0x1p-149, INFINITY, -INFINITY, NAN,        -0x1p63};
    const double far[] = {16777217, -16777217, 1700000000.123, 9.9e9,
                          1e-60,    -1e-60,    0x1p62 + 0x1p20};
    for (size_t i = 0; i < sizeof close / sizeof *close; i++)
        assert_false(rounding_is_far(close[i]));
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) assert_true(rounding_is_far(far[i]));
}

static void test_integers(void **state) {
    (void)state;
    assert_false(rounding_is_far_int64(0));
    assert_false(rounding_is_far_int64(16777216));
    assert_false(rounding_is_far_int64(INT64_MIN));
    assert_true(rounding_is_far_int64(INT64_MAX));
    assert_true(rounding_is_far_int64(-16777217));
    assert_true(rounding_is_far_int64((INT64_C(1) << 53) + 1)); /* a double would not show it */
}

static void test_texts(void **state) {
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
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
