/* Numbers of tables: integers at the limits, and floats that round as those of the C library. */
#include "base/text/plain_number.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/short_number.h"
#include "support/random.h"
#include "support/rounds.h"

static bool int64_of(int64_t *value, const char *text) {
    return plain_int64(value, text, strlen(text));
}

static void test_integers(void **state) {
    (void)state;
    int64_t value;
    assert_true(int64_of(&value, "9223372036854775807") && value == INT64_MAX);
    assert_true(int64_of(&value, "-9223372036854775808") && value == INT64_MIN);
    assert_true(int64_of(&value, "+0012") && value == 12);
    assert_true(int64_of(&value, "-0") && value == 0);
    static const char *const others[] = {"",
                                         "-",
                                         "+",
                                         "1.0",
                                         "1e3",
                                         " 1",
                                         "1 ",
                                         "--1",
                                         "0x1",
                                         "9223372036854775808",
                                         "-9223372036854775809",
                                         "99999999999999999999999",
                                         "18446744073709551616"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(int64_of(&value, others[i]));
}

static void test_unsigned_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"18446744073709551615", UINT64_MAX},
                 {"+009223372036854775808", UINT64_C(1) << 63},
                 {"7", 7},
                 {"-0", 0},
                 {"-00000000000000000000", 0}};
    static const char *const others[] = {"",
                                         "-",
                                         "18446744073709551616",
                                         "-1",
                                         "-9",
                                         "-00000000000000000001",
                                         "1.0",
                                         "99999999999999999999"};
    uint64_t value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(plain_uint64(&value, cases[i].text, strlen(cases[i].text)));
        assert_true(value == cases[i].value);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(plain_uint64(&value, others[i], strlen(others[i])));
}

/* Numbers within a longer text: what follows them does not count, whatever it is. */
static void expect_within(const char *text, const char *rest, float due) {
    char longer[96];
    float value;
    size_t size = strlen(text), all = (size_t)snprintf(longer, sizeof longer, "%s%s", text, rest);
    assert_true(all < sizeof longer);
    assert_true(plain_float_within(&value, longer, size, longer + all));
    if (memcmp(&value, &due, sizeof due) != 0 && !(isnan(value) && isnan(due)))
        fail_msg("%s: %a, not %a", longer, (double)value, (double)due);
}

static void expect_double(const char *text) {
    double value, due = strtod(text, NULL);
    float narrow, narrow_due = strtof(text, NULL);
    assert_true(plain_double(&value, text, strlen(text)));
    assert_true(plain_float(&narrow, text, strlen(text)));
    if (memcmp(&value, &due, sizeof due) != 0 && !(isnan(value) && isnan(due)))
        fail_msg("%s: %a, not %a", text, value, due);
    expect_within(text, "", narrow);
    expect_within(text, ",", narrow);
    expect_within(text, ".12,3456789", narrow);
    size_t digits = strcspn(text, "eE");
    if (digits > 20) return; /* documented: rounded to a double first */
    if (memcmp(&narrow, &narrow_due, sizeof narrow) != 0 && !(isnan(narrow) && isnan(narrow_due)))
        fail_msg("%s: %a, not %a", text, (double)narrow, (double)narrow_due);
}

static void test_known_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1.",
                                        ".5",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "16777217",
                                        "5e-324",
                                        "2.4e-324",
                                        "1e-400",
                                        "1e400",
                                        "-1e309",
                                        "3.4028235e38",
                                        "3.4028236e38",
                                        "1.4e-45",
                                        "7e-46",
                                        "1.1754943e-38",
                                        "0.000000000000000000000000000000000000011754942106924411",
                                        "123456789012345678901234567890",
                                        "0e99999999",
                                        "1e-99999999",
                                        "4.35",
                                        "1.00000005960464477",
                                        "1.000000059604644775",
                                        "8388608.5",
                                        "nan",
                                        "INF",
                                        "-Infinity"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect_double(texts[i]);
    double value;
    static const char *const others[] = {"",      ".",     "-",      "e5", "1e", "1e+", "1.2.3",
                                         "0x1p3", "infin", "nan(1)", " 1", "1 ", "1,5"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(plain_double(&value, others[i], strlen(others[i])));
}

static void test_random_numbers_round_as_strtod_does(void **state) {
    (void)state;
    struct rng random = {5};
    unsigned rounds = some_rounds(200000);
    for (unsigned i = 0; i < rounds; i++) {
        char text[64];
        size_t size = 0, count = 1 + rng_below(&random, 19), point = rng_below(&random, count + 1);
        if (rng_one_in(&random, 3)) text[size++] = '-';
        for (size_t k = 0; k < count; k++) {
            if (k == point) text[size++] = '.';
            text[size++] = (char)('0' + rng_below(&random, 10));
        }
        text[size] = 0;
        if (rng_one_in(&random, 2))
            snprintf(text + size, sizeof text - size, "e%d", (int)rng_below(&random, 90) - 45);
        expect_double(text);
    }
}

/* Digits, signs, points and what is none of these, in texts as long as short numbers and longer. */
static void test_short_numbers_are_plain_numbers(void **state) {
    (void)state;
    static const char characters[] = "00112345678999-+./:, e\x80\xff";
    struct rng random = {6};
    unsigned rounds = some_rounds(300000);
    for (unsigned i = 0; i < rounds; i++) {
        char text[24];
        size_t size = rng_below(&random, 11), all = size + rng_below(&random, 13);
        uint64_t choices = rng_one_in(&random, 2) ? 14 : sizeof characters - 1;
        for (size_t k = 0; k < all; k++) text[k] = characters[rng_below(&random, choices)];
        int64_t integer, due = 0;
        double number, due_number = 0;
        bool is_integer = plain_int64(&due, text, size);
        bool is_number = plain_double(&due_number, text, size);
        if (short_int64(&integer, text, size, text + all))
            assert_true(is_integer && integer == due);
        else assert_false(is_integer && size <= 8 && *text != '+' && all > 8);
        if (short_double(&number, text, size, text + all))
            assert_true(is_number && !memcmp(&number, &due_number, sizeof due_number));
        else assert_false(is_integer && size <= 8 && *text != '+' && all > 8);
    }
}

static void test_the_locale_does_not_matter(void **state) {
    (void)state;
    double value;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) skip();
    bool is_read = plain_double(&value, "1.2345678901234567", 18);
    setlocale(LC_NUMERIC, "C");
    assert_true(is_read && value == 1.2345678901234567);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_unsigned_integers),
        cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_random_numbers_round_as_strtod_does),
        cmocka_unit_test(test_short_numbers_are_plain_numbers),
        cmocka_unit_test(test_the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
