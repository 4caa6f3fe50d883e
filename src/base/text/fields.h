/* Reads the fields of delimited text, such as CSV and TSV (RFC 4180): fields in double quotes,
 * which may contain separators and line feeds, and quotes that are doubled; lines that end in LF or
 * CR LF. A quote within a field that does not begin with one is an ordinary character. NUL is
 * refused. Fields are parts of the text: nothing is copied or allocated.
 *
 * field_row_end finds the ends of the same rows, without looking at their fields. */
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
    char quote;                  /* `"`, or the separator if there are no quoted fields */
    struct interrupt *interrupt; /* asked while long fields are read; NULL: none */
    const char *fault;           /* after INVALID: what is wrong, and where */
    const char *fault_at;
};

/* The size of the byte order mark that some programs write at the start of UTF-8; 0 without one. */
size_t field_mark_size(const char *text, size_t size);

/* Begins at the text's first byte, after its byte order mark. Set `quote` to the separator before
 * the first field is read if quotes are ordinary characters. The text is borrowed. */
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

/* Finds the line feed that ends the row at `text`, or the end of the text. `open_quote` is the
 * quote that is not closed before `end`, or NULL. After a closing quote, other characters belong to
 * the field. So every row that field_reader_next accepts ends where this says. With `quote` equal
 * to the separator, there are no quotes. */
const char *field_row_end(const char **open_quote, const char *text, const char *end,
                          char separator, char quote);

/* Copies the text with one quote for two. Returns the number of bytes, at most field->size. */
size_t field_text_unquote(char *out, const struct field_text *field);

#endif
