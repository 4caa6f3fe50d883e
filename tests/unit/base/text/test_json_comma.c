/* The JSON writer where the process's locale writes 1,5 for 1.5. Few machines have such a locale
 * installed, so json.c is compiled in here with a printf and a strtod that behave that way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h" /* cmocka has another `fail` */

#include <cmocka.h>

__attribute__((format(printf, 3, 4))) static int comma_snprintf(char *text, size_t capacity,
                                                                const char *format, ...) {
    va_list arguments;
    if (!format) abort();
    va_start(arguments, format);
    int size = vsnprintf(text, capacity, format, arguments);
    va_end(arguments);
    /* Only conversions of floating point know the locale. */
    if (strpbrk(format, "efgEFG") && strchr(format, '*') && !strchr(format, 's'))
        for (char *cursor = text; *cursor; cursor++)
            if (*cursor == '.') *cursor = ',';
    return size;
}

static double comma_strtod(const char *text, char **end) {
    char copy[64];
    (void)end;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *cursor = copy; *cursor; cursor++) {
        if (*cursor == '.') *cursor = 'x'; /* ends the number, in such a locale */
        if (*cursor == ',') *cursor = '.';
    }
    return strtod(copy, NULL);
}

#define snprintf comma_snprintf
#define strtod comma_strtod
#include "base/text/json.c"
#undef snprintf
#undef strtod

static void test_numbers_have_points_in_every_locale(void **state) {
    (void)state;
    recmap_text text = RECMAP_TEXT_INIT;
    struct json_writer json = json_begin(&text);
    json_open(&json, '[');
    json_double(&json, 0.25);
    json_double(&json, 1.0 / 3);
    json_double(&json, 1e-7);
    json_double(&json, 1.5e300);
    json_float(&json, 0.1f);
    json_float(&json, -1.5f);
    json_float(&json, 16777216.0f);
    json_uint64(&json, 1234567);
    json_close(&json, ']');
    assert_string_equal(text.data, "[0.25,0.3333333333333333,1e-07,1.5e+300,0.1,-1.5,16777216.0,"
                                   "1234567]");
    recmap_text_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_have_points_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
