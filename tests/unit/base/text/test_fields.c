/* The field reader: the fields of rows, the places of what it refuses, and interrupts. */
#define _GNU_SOURCE
#include "base/text/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/field_marks.h"
#include "support/random.h"
#include "support/rounds.h"

/* Appends the next row to `out`: fields end in `|`, and the row in `/` and the line after it. A
 * quoted field has its quotes. */
static recmap_status describe_row(FILE *out, struct field_reader *reader, recmap_error *error) {
    struct field_text field = {.is_last = false};
    while (!field.is_last) {
        char text[256];
        RETURN_IF_FAILED(field_reader_next(&field, reader, error));
        assert_true(field.size <= sizeof text);
        size_t size = field_text_unquote(text, &field);
        assert_true(size <= field.size);
        const char *quote = field.is_quoted ? "\"" : "";
        fprintf(out, "%s%.*s%s|", quote, (int)size, text, quote);
    }
    fprintf(out, "/%d ", (int)reader->line);
    return RECMAP_OK;
}

/* What is read: the rows, and after them the error. The text is copied, so that sanitizers see what
 * is read beyond its end. The caller frees the result. */
static char *describe(const char *text, size_t size, char separator) {
    char *copy = malloc(size + !size), *described = NULL;
    size_t described_size;
    assert_non_null(copy);
    memcpy(copy, text, size);
    FILE *out = open_memstream(&described, &described_size);
    assert_non_null(out);
    struct field_reader reader;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    field_reader_init(&reader, copy, size, separator, NULL);
    while (status == RECMAP_OK && field_reader_has_row(&reader))
        status = describe_row(out, &reader, &error);
    if (status == RECMAP_OK) assert_ptr_equal(reader.at, copy + size);
    else fprintf(out, "%s", error.message);
    fclose(out);
    free(copy);
    return described;
}

static void expect_bytes(const char *text, size_t size, char separator, const char *expected) {
    char *described = describe(text, size, separator);
    assert_string_equal(described, expected);
    free(described);
}

static void expect(const char *text, const char *expected) {
    expect_bytes(text, strlen(text), ',', expected);
}

/* Where rows end, as offsets; an open quote is shown after `"`. */
static void expect_ends(const char *text, const char *expected) {
    char described[256];
    size_t used = 0;
    const char *at = text, *end = text + strlen(text), *quote = NULL;
    while (at < end && !quote) {
        at = field_row_end(&quote, at, end, ',', '"');
        used += (size_t)snprintf(described + used, sizeof described - used, "%td ", at++ - text);
    }
    if (quote) snprintf(described + used, sizeof described - used, "\"%td", quote - text);
    else described[used] = 0;
    assert_string_equal(described, expected);
}

static void test_ends_of_rows(void **state) {
    (void)state;
    expect_ends("a\n\nb", "1 2 4 ");
    expect_ends("\"a\n\",b\nc", "6 8 ");
    expect_ends("\"a\"\"\n\"\n", "6 ");
    expect_ends("a\"b\n\"c\n", "3 7 \"4");
    expect_ends("a,\"", "3 \"2");
    expect_ends("\"a\"b\"\n,", "5 7 ");
    expect_ends("0123456789abcdef,\"\n\",0123456789abcdef\n", "37 ");
}

static void test_rows_without_quotes_end_at_each_line_feed(void **state) {
    (void)state;
    const char *quote, text[] = ",\"a\nb\"";
    assert_ptr_equal(field_row_end(&quote, text, text + sizeof text - 1, ',', ','), text + 3);
    assert_null(quote);
    struct field_reader reader;
    struct field_text field;
    field_reader_init(&reader, text, sizeof text - 1, ',', NULL);
    reader.quote = ',';
    assert_int_equal(field_reader_next(&field, &reader, NULL), RECMAP_OK);
    assert_int_equal(field_reader_next(&field, &reader, NULL), RECMAP_OK);
    assert_int_equal(field.size, 2);
    assert_true(field.is_last && !field.is_quoted);
}

static void test_fields_of_rows(void **state) {
    (void)state;
    expect("", "");
    expect("a", "a|/1 ");
    expect("a,b\nc,d\n", "a|b|/2 c|d|/3 ");
    expect(",\n,", "||/2 ||/2 ");
    expect(" a , b\t;c", " a | b\t;c|/1 ");
    expect("1\n2,3,4\n5", "1|/2 2|3|4|/3 5|/3 ");
    expect_bytes("a;b,c\n", 6, ';', "a|b,c|/2 ");
    expect_bytes("a\tb,c\td\n", 8, '\t', "a|b,c|d|/2 ");
}

static void test_quoted_fields_are_read(void **state) {
    (void)state;
    expect("\"a\",\"b\"\n", "\"a\"|\"b\"|/2 ");
    expect("\"\",\"\"", "\"\"|\"\"|/1 ");
    expect("\"a,b\n c\",d\n", "\"a,b\n c\"|d|/3 ");
    expect("\"\"\"a\"\"b\"\"\"\n", "\"\"a\"b\"\"|/2 ");
    expect("\"\"\"\"", "\"\"\"|/1 ");
    expect("a\"b\",\"c\"\"\",d\"\n", "a\"b\"|\"c\"\"|d\"|/2 ");
    expect(" \"a\"\n", " \"a\"|/2 ");
}

static void test_line_ends_are_lf_or_cr_lf(void **state) {
    (void)state;
    expect("a,b\r\n\"c\"\r\n", "a|b|/2 \"c\"|/3 ");
    expect("a\r", "a|/1 ");
    expect("\"a\"\r", "\"a\"|/1 ");
    expect("\r\n\n\r\na\n\n\r\n", "a|/5 ");
    expect("\n\r", "");
    expect("a\rb,\r,c\r\r\n", "a\rb|\r|c\r|/2 ");
    expect("\"a\r\nb\n\"", "\"a\r\nb\n\"|/3 ");
}

static void test_byte_order_mark_at_the_start_only(void **state) {
    (void)state;
    expect("\xef\xbb\xbf"
           "\"a\"\n\xef\xbb\xbf"
           "b\n",
           "\"a\"|/2 \xef\xbb\xbf"
           "b|/3 ");
    expect("\xef\xbb\xbf", "");
    expect("\xef\xbb", "\xef\xbb|/1 ");
}

/* The error names the line and the byte of the opening quote, or of the closing one. */
static void test_errors_name_line_and_byte(void **state) {
    (void)state;
#define OPEN "a quote is not closed"
#define AFTER "a closing quote is followed by other characters"
    expect("\"", "line 1, byte 0: " OPEN);
    expect("\xef\xbb\xbf\"", "line 1, byte 3: " OPEN);
    expect("a,b\nc,\"d\n\ne", "a|b|/2 c|line 2, byte 2: " OPEN);
    expect("\"a\n\",\"b\"\"", "\"a\n\"|line 2, byte 2: " OPEN);
    expect("\"a\"b", "line 1, byte 2: " AFTER);
    expect("\"a\n\nb\" ,c", "line 3, byte 1: " AFTER);
    expect("x\n\"a\"\rb", "x|/2 line 2, byte 2: " AFTER);
}

static void test_nul_is_refused(void **state) {
    (void)state;
    expect_bytes("\0", 1, ',', "line 1, byte 0: a byte is NUL");
    expect_bytes("a\nb,c\0d\n", 8, ',', "a|/2 b|line 2, byte 3: a byte is NUL");
    expect_bytes("\"a\nb\0\"", 6, ',', "line 2, byte 1: a byte is NUL");
    expect_bytes("\"a\"\0", 4, ',', "line 1, byte 2: " AFTER);
}

static int count_questions(void *context) {
    int *left = context;
    return !--*left;
}

/* A field of many pieces can be interrupted, quoted or not, and is otherwise read as a whole. */
static void test_a_long_field_can_be_interrupted(void **state) {
    (void)state;
    enum { SIZE = 8 * INTERRUPT_COPY_SIZE };
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (int is_quoted = 0; is_quoted < 2; is_quoted++) {
        memset(text, 'a', SIZE);
        if (is_quoted) text[0] = text[SIZE - 1] = '"';
        for (int questions = 3; questions <= 100; questions += 97) {
            int left = questions;
            struct interrupt interrupt = {count_questions, &left, 1, false};
            struct field_reader reader;
            struct field_text field;
            recmap_error error = RECMAP_ERROR_INIT;
            field_reader_init(&reader, text, SIZE, ',', &interrupt);
            recmap_status status = field_reader_next(&field, &reader, &error);
            assert_int_equal(status, questions == 3 ? RECMAP_CANCELLED : RECMAP_OK);
            if (status == RECMAP_OK) assert_int_equal(field.size, is_quoted ? SIZE - 2 : SIZE);
        }
    }
    free(text);
}

static bool is_mark(char c, char separator, char quote) {
    return c == separator || c == quote || (unsigned char)c <= '\r';
}

/* Rows of every length up to a few blocks, from each byte of memory that ends with the row. */
static void test_marks_are_found_in_rows_of_any_length(void **state) {
    (void)state;
    static const char characters[] = ",,\"\r\n\t\0;abc\x0e\x1f\x80\x8d\xff";
    struct rng random = {3};
    unsigned rounds = some_rounds(30000);
    for (unsigned i = 0; i < rounds; i++) {
        size_t size = rng_below(&random, 70);
        char *text = malloc(size + !size);
        assert_non_null(text);
        for (size_t k = 0; k < size; k++)
            text[k] = rng_one_in(&random, 3) ? characters[rng_below(&random, sizeof characters - 1)]
                                             : 'x';
        struct field_marks marks;
        char separator = rng_one_in(&random, 2) ? ',' : ';';
        field_marks_init(&marks, text, text + size, separator, '"');
        for (size_t k = 0; k < size; k++)
            if (is_mark(text[k], separator, '"'))
                assert_ptr_equal(field_marks_next(&marks), text + k);
        for (int k = 0; k < 2; k++) assert_ptr_equal(field_marks_next(&marks), text + size);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_of_rows),
        cmocka_unit_test(test_rows_without_quotes_end_at_each_line_feed),
        cmocka_unit_test(test_marks_are_found_in_rows_of_any_length),
        cmocka_unit_test(test_fields_of_rows),
        cmocka_unit_test(test_quoted_fields_are_read),
        cmocka_unit_test(test_line_ends_are_lf_or_cr_lf),
        cmocka_unit_test(test_byte_order_mark_at_the_start_only),
        cmocka_unit_test(test_errors_name_line_and_byte),
        cmocka_unit_test(test_nul_is_refused),
        cmocka_unit_test(test_a_long_field_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
