#include "base/text/fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/error.h"
#include "base/text/find_byte.h"

enum { FIELD_WORK = 32 }; /* for the interrupt, in bytes: a field, however short */

static void start_line(struct field_reader *reader, const char *start) {
    reader->line++;
    reader->line_start = start;
}

size_t field_mark_size(const char *text, size_t size) {
    return size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

void field_reader_init(struct field_reader *reader, const char *text, size_t size, char separator,
                       struct interrupt *interrupt) {
    *reader = (struct field_reader){.at = text + field_mark_size(text, size),
                                    .end = text + size,
                                    .line_start = text,
                                    .line = 1,
                                    .separator = separator,
                                    .quote = '"',
                                    .interrupt = interrupt};
}

/* Returns true at the end of a line or of the text, also at a CR that belongs to it. */
static bool is_line_end(const struct field_reader *reader, const char *at) {
    if (at < reader->end && *at == '\r') at++;
    return at == reader->end || *at == '\n';
}

bool field_reader_has_row(struct field_reader *reader) {
    while (reader->at < reader->end && is_line_end(reader, reader->at)) {
        reader->at += *reader->at == '\r';
        if (reader->at < reader->end) start_line(reader, ++reader->at);
    }
    return reader->at < reader->end;
}

/* The error INVALID about the byte `at` of the reader's line. */
static recmap_status fail_byte(struct field_reader *reader, const char *at, recmap_error *error,
                               const char *what, const char *advice) {
    reader->fault = what;
    reader->fault_at = at;
    fail(error, RECMAP_INVALID, "line %" PRIu64 ", byte %td: %s", reader->line,
         at - reader->line_start, what);
    fail_advise(error, "%s", advice);
    return RECMAP_INVALID;
}

static recmap_status fail_nul(struct field_reader *reader, const char *at, recmap_error *error) {
    return fail_byte(reader, at, error, "a byte is NUL",
                     "convert the file to UTF-8; NUL occurs in UTF-16 and in binary files");
}

/* Finds the first byte from `at` on that is `mark`, a line feed or NUL, or the end of the text. A
 * field may be as long as the file, so the interrupt is asked between pieces of it. */
static recmap_status find_stop(const char **stop, const struct field_reader *reader, const char *at,
                               char mark, recmap_error *error) {
    const char *piece_end;
    do {
        const char *start = at;
        size_t left = (size_t)(reader->end - at);
        piece_end = at + (left < INTERRUPT_COPY_SIZE ? left : INTERRUPT_COPY_SIZE);
        at = find_byte(at, piece_end, mark, '\n', 0);
        RETURN_IF_FAILED(
            interrupt_check(reader->interrupt, (uint64_t)(at - start) + FIELD_WORK, error));
    } while (at == piece_end && at < reader->end);
    *stop = at;
    return RECMAP_OK;
}

/* Finds the closing quote of a field and counts the lines up to it. The error of a quote that is
 * not closed is about the opening one: it may have been written by mistake, far from the end. */
static recmap_status find_quote(const char **quote, bool *has_quotes, struct field_reader *reader,
                                recmap_error *error) {
    const struct field_reader opening = *reader;
    *has_quotes = false;
    for (const char *at = reader->at + 1;; at++) {
        RETURN_IF_FAILED(find_stop(&at, reader, at, reader->quote, error));
        if (at == reader->end) {
            *reader = opening;
            return fail_byte(reader, reader->at, error, "a quote is not closed",
                             "close the quote; quotes inside a quoted field are doubled");
        }
        if (!*at) return fail_nul(reader, at, error);
        if (*at == '\n') {
            start_line(reader, at + 1);
            continue;
        }
        *quote = at++;
        if (at == reader->end || *at != reader->quote) return RECMAP_OK;
        *has_quotes = true;
    }
}

static recmap_status read_quoted(struct field_text *field, struct field_reader *reader,
                                 recmap_error *error) {
    const char *first = reader->at + 1, *quote = first;
    bool has_quotes = false;
    RETURN_IF_FAILED(find_quote(&quote, &has_quotes, reader, error));
    reader->at = quote + 1;
    if (is_line_end(reader, reader->at))
        reader->at += reader->at < reader->end && *reader->at == '\r';
    else if (*reader->at != reader->separator)
        return fail_byte(reader, quote, error, "a closing quote is followed by other characters",
                         "end the field after the quote; quotes inside a quoted field are doubled");
    *field = (struct field_text){first, (size_t)(quote - first), true, has_quotes, false};
    return RECMAP_OK;
}

static recmap_status read_plain(struct field_text *field, struct field_reader *reader,
                                recmap_error *error) {
    const char *first = reader->at, *end = first;
    RETURN_IF_FAILED(find_stop(&end, reader, first, reader->separator, error));
    if (end < reader->end && !*end) return fail_nul(reader, end, error);
    reader->at = end;
    if (end > first && end[-1] == '\r' && is_line_end(reader, end)) end--;
    *field = (struct field_text){first, (size_t)(end - first), false, false, false};
    return RECMAP_OK;
}

recmap_status field_reader_next(struct field_text *field, struct field_reader *reader,
                                recmap_error *error) {
    bool is_quoted = reader->at < reader->end && *reader->at == reader->quote &&
                     reader->quote != reader->separator;
    RETURN_IF_FAILED(is_quoted ? read_quoted(field, reader, error)
                               : read_plain(field, reader, error));
    if (reader->at == reader->end) {
        field->is_last = true;
        return RECMAP_OK;
    }
    field->is_last = *reader->at++ == '\n';
    if (field->is_last) start_line(reader, reader->at);
    return RECMAP_OK;
}

/* Returns the byte after the quote that closes the field, or NULL. */
static const char *skip_quoted(const char *at, const char *end, char quote) {
    for (;; at++) {
        at = find_byte(at, end, quote, quote, quote);
        if (at == end) return NULL;
        if (++at == end || *at != quote) return at;
    }
}

/* A quote opens a field only at its start: at the start of the row or after a separator. The byte
 * before a quote is a separator between fields, because quoted fields are skipped as a whole. */
const char *field_row_end(const char **open_quote, const char *text, const char *end,
                          char separator, char quote) {
    const char *at = text;
    *open_quote = NULL;
    for (;;) {
        at = find_byte(at, end, '\n', quote == separator ? '\n' : quote, '\n');
        if (at == end || *at == '\n') return at;
        const char *first = at++;
        if (first > text && first[-1] != separator) continue;
        at = skip_quoted(at, end, quote);
        if (!at) *open_quote = first;
        if (!at) return end;
    }
}

size_t field_text_unquote(char *out, const struct field_text *field) {
    size_t size = 0;
    for (size_t i = 0; i < field->size; i++) {
        out[size++] = field->data[i];
        i += field->has_quotes && field->data[i] == '"';
    }
    return size;
}
