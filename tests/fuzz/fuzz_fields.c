/* Any bytes as delimited text; the first one chooses the separator. Each field lies in the text,
 * after the one before it, and the line of each row is the number of line feeds up to it. The rows
 * with all fields in quotes read as the same rows. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/fields.h"
#include "fuzz/fuzz.h"

static void check(bool holds) {
    if (!holds) abort();
}

/* A second text of the same rows. */
struct quoted_text {
    char *data;
    size_t size;
};

static void add_byte(struct quoted_text *quoted, char byte) {
    quoted->data[quoted->size++] = byte;
}

/* Adds a field in quotes, and what ends it. */
static void add_field(struct quoted_text *quoted, const struct field_text *field, char separator) {
    add_byte(quoted, '"');
    for (size_t i = 0; i < field->size; i++) {
        bool is_quote = field->data[i] == '"';
        add_byte(quoted, field->data[i]);
        if (is_quote) add_byte(quoted, '"');
        i += is_quote && field->has_quotes;
    }
    add_byte(quoted, '"');
    add_byte(quoted, field->is_last ? '\n' : separator);
}

/* Checks where the field is, which begins at or after `start` and has been read up to reader->at.
 */
static void check_place(const struct field_text *field, const char *start,
                        const struct field_reader *reader) {
    const char *end = field->data + field->size;
    check(field->data == start + field->is_quoted && end + field->is_quoted <= reader->at);
    check(reader->at <= reader->end && (field->is_last || reader->at[-1] == reader->separator));
    check(!memchr(field->data, 0, field->size) && (field->is_quoted || !field->has_quotes));
}

static uint64_t count_lines(const char *text, const char *end) {
    uint64_t count = 1;
    for (; text < end; text++) count += *text == '\n';
    return count;
}

/* Reads all rows up to the first that is refused, and writes them. */
static recmap_status read_rows(struct quoted_text *quoted, struct field_reader *reader) {
    const char *text = reader->line_start;
    while (field_reader_has_row(reader)) {
        struct field_text field = {.is_last = false};
        const char *row = reader->at, *quote;
        char mark = reader->quote;
        const char *end = field_row_end(&quote, row, reader->end, reader->separator, mark);
        check(reader->line == count_lines(text, reader->at));
        while (!field.is_last) {
            const char *start = reader->at;
            recmap_error error = RECMAP_ERROR_INIT;
            recmap_status status = field_reader_next(&field, reader, &error);
            check(status == RECMAP_OK || (status == RECMAP_INVALID && error.message[0]));
            if (status != RECMAP_OK) return status; /* field_row_end also ends such rows */
            check_place(&field, start, reader);
            add_field(quoted, &field, reader->separator);
        }
        check(!quote && reader->at == end + (end < reader->end));
    }
    check(reader->at == reader->end);
    return RECMAP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char separators[] = ",;\t|";
    if (!size) return 0;
    char separator = separators[data[0] % 4];
    struct field_reader reader;
    /* A byte of the input becomes at most two, and each field has three more. */
    struct quoted_text quoted = {malloc(5 * size + 8), 0}, again = {malloc(5 * size + 8), 0};
    check(quoted.data && again.data);
    field_reader_init(&reader, (const char *)data + 1, size - 1, separator, NULL);
    if (read_rows(&quoted, &reader) == RECMAP_OK) {
        field_reader_init(&reader, quoted.data, quoted.size, separator, NULL);
        check(read_rows(&again, &reader) == RECMAP_OK);
        check(again.size == quoted.size && !memcmp(again.data, quoted.data, quoted.size));
    }
    free(quoted.data);
    free(again.data);
    return 0;
}
