/* Reads the fields of delimited text, such as CSV and TSV (RFC 4180): fields in double quotes,
 * which may contain separators and line feeds, and quotes that are doubled; lines that end in LF or
 * CR LF. A quote within a field that does not begin with one is an ordinary character. NUL is
 * refused. Fields are parts of the text: nothing is copied or allocated. */
#ifndef RECMAP_BASE_TEXT_FIELDS_H
#define RECMAP_BASE_TEXT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/interrupt.h"

/* A field of the text: what is between the quotes, if it is quoted. */
struct field_text {
    const char *data;
    size_t size;
    bool is_quoted;
    bool has_quotes; /* within it, each twice: field_text_unquote */
    bool is_last;    /* of its row */
};

struct field_reader {
    const char *at, *end;
    const char *line_start;
    uint64_t line;               /* of `at`, from 1 */
    char separator;              /* between fields: a comma, a tab, ... */
    struct interrupt *interrupt; /* asked while long fields are read; NULL: none */
};

/* Begins at the text's first byte, after the byte order mark that some programs write at the start
 * of UTF-8. The text is borrowed. */
void field_reader_init(struct field_reader *reader, const char *text, size_t size, char separator,
                       struct interrupt *interrupt);

/* Skips blank lines. Returns true if a row follows, and false at the end of the text. */
bool field_reader_has_row(struct field_reader *reader);

/* Reads the next field, and the separator or the line's end after it. At the end of the text, this
 * is an empty field, the last one of its row. Errors: INVALID, naming the line and the byte in it,
 * from 0: a quote is not closed, or a closing quote is followed by other characters; NUL;
 * CANCELLED. */
recmap_status field_reader_next(struct field_text *field, struct field_reader *reader,
                                recmap_error *error);

/* Copies the text with one quote for two. Returns the number of bytes, at most field->size. */
size_t field_text_unquote(char *out, const struct field_text *field);

#endif
