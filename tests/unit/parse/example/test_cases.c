/* What every serialized Example means, case by case, with libprotobuf's own verdicts. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/build.h"
#include "unit/parse/example/cases.h"
#include "unit/parse/example/data.h"
#include "unit/parse/example/describe.h"

/* Compares; of what is refused only that it is. */
static void check(const char *title, const char *hex, const char *expected) {
    struct message message;
    recmap_text text = RECMAP_TEXT_INIT;
    message.size = 0;
    put_hex(&message, hex);
    uint8_t *data = copy_exact(message.data, message.size);
    describe(&text, data, message.size);
    size_t size = strcmp(expected, "REJECT") == 0 ? strlen("REJECT") : text.size + 1;
    if (strncmp(text.data, expected, size) != 0)
        fail_msg("%s (%s): %s, expected %s", title, hex, text.data, expected);
    recmap_text_deinit(&text);
    free(data);
}

static void test_own_cases_are_read_as_listed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wire_cases / sizeof *wire_cases; i++)
        check(wire_cases[i].what, wire_cases[i].hex, wire_cases[i].expected);
}

/* Columns: case, hex, TensorFlow's verdict, libprotobuf's: "ok {...}" or "REJECT {...}". */
static void test_given_cases_are_read_as_listed(void **state) {
    (void)state;
    size_t size;
    char *table = (char *)data_read("verdicts/example_wire_cases.tsv", &size);
    if (!table) {
        print_message("skipped: no folder of test data\n");
        skip();
    }
    unsigned count = 0;
    char *rest = table, *line = strsep(&rest, "\n");
    while ((line = strsep(&rest, "\n")) && *line) {
        const char *what = strsep(&line, "\t"), *hex = strsep(&line, "\t");
        strsep(&line, "\t");
        assert_non_null(line);
        line[strcspn(line, "\r")] = 0;
        check(what, hex, strncmp(line, "ok ", 3) == 0 ? line + 3 : "REJECT");
        count++;
    }
    assert_true(count > 40);
    free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_cases_are_read_as_listed),
        cmocka_unit_test(test_given_cases_are_read_as_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
