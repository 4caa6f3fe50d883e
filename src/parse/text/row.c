/* The fields of a row. */
#include <stdlib.h>

#include "base/core/plural.h"
#include "base/text/field_marks.h"
#include "base/text/fields.h"
#include "parse/decode/read_fault.h"
#include "parse/text/text_source.h"

/* The largest place of a key, or 0. */
static size_t last_place(const struct text_source *source) {
    return source->key_count ? source->order[source->key_count - 1].place : 0;
}

static bool fail_count(const struct text_source *source, size_t count, struct read_fault *fault) {
    if (source->field_count)
        fault_set(fault, RECMAP_CORRUPT, SIZE_MAX,
                  "the row has %zu field%s, but the header has %zu", count, plural(count),
                  source->field_count);
    else
        fault_set(fault, RECMAP_CORRUPT, SIZE_MAX,
                  "the row has %zu field%s, but field %zu is requested", count, plural(count),
                  last_place(source));
    fault_advise(fault, "put fields that contain the separator in quotes, or skip bad records");
    return false;
}

/* Without a header, rows need only have the fields that are requested. */
static bool has_count(const struct text_source *source, size_t count) {
    if (source->field_count) return count == source->field_count;
    return !source->key_count || count > last_place(source);
}

/* A row, while its fields are read. */
struct row {
    struct text_piece *pieces;    /* of the keys */
    const struct field_key *next; /* the first key without a piece */
    size_t count;                 /* fields so far */
    const char *at, *end;
    const char *stray; /* the first quote or CR in a field that is not in quotes, or NULL */
    char separator, quote;
};

/* Members are written one by one: copying a struct that was just written waits for the writes. */
static inline void add_field(struct row *row, const char *data, size_t size, bool has_quotes) {
    for (; row->next->place == row->count; row->next++) {
        struct text_piece *piece = &row->pieces[row->next->key];
        piece->data = data;
        piece->size = size;
        piece->has_quotes = has_quotes;
        piece->path = NULL;
    }
    row->count++;
}

/* What a mark in a field without quotes is. */
enum mark_kind {
    MARK_ORDINARY,
    MARK_STRAY, /* a quote, or a CR within the row */
    MARK_HARD,  /* ends what read_plain reads: a quoted field, a line feed or NUL */
};

static enum mark_kind judge_mark(const struct row *row, const char *mark, bool is_first) {
    if (*mark == row->quote) return is_first ? MARK_HARD : MARK_STRAY;
    if (*mark == '\r') return mark[1] == '\n' ? MARK_ORDINARY : MARK_STRAY;
    return *mark == '\n' || !*mark ? MARK_HARD : MARK_ORDINARY;
}

/* Reads fields without quotes, which most are, up to the first that begins with one or has a byte
 * that field_reader_next must judge. All marks of these fields are found in one pass. Returns true
 * at the end of the row. */
static bool read_plain(struct row *row) {
    const char *first = row->at, *end = row->end;
    struct field_marks marks;
    field_marks_init(&marks, first, end, row->separator, row->quote);
    for (;;) {
        const char *mark = field_marks_next(&marks);
        if (mark < end && *mark == row->separator) {
            add_field(row, first, (size_t)(mark - first), false);
            first = mark + 1;
            continue;
        }
        if (mark == end || (*mark == '\r' && mark + 1 == end)) {
            add_field(row, first, (size_t)(mark - first), false);
            row->at = end;
            return true;
        }
        enum mark_kind kind = judge_mark(row, mark, mark == first);
        row->at = first;
        if (kind == MARK_HARD) return false;
        if (kind == MARK_STRAY && !row->stray) row->stray = mark;
    }
}

/* Reads the next field. Sets `is_last` if it ends the row. */
static bool read_hard(bool *is_last, struct row *row, const struct text_format *format,
                      const char *data, struct read_fault *fault) {
    struct field_reader reader = text_format_reader(format, data, (size_t)(row->end - data));
    struct field_text field;
    reader.at = row->at;
    if (field_reader_next(&field, &reader, NULL) != RECMAP_OK)
        return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.fault_at - data), "%s",
                         reader.fault);
    add_field(row, field.data, field.size, field.has_quotes);
    row->at = reader.at;
    *is_last = field.is_last;
    return true;
}

/* tf.io.decode_csv refuses such bytes, too. Python's csv ends the row at such a CR and keeps such a
 * quote, other readers do the opposite: any value would be wrong for some files. */
static bool fail_stray(const char *stray, const char *data, struct read_fault *fault) {
    bool is_return = *stray == '\r';
    fault_set(fault, RECMAP_CORRUPT, (size_t)(stray - data),
              "%s is within a field that is not in quotes",
              is_return ? "a carriage return" : "a quote");
    fault_advise(fault, "%s",
                 is_return ? "put the field in quotes; if lines end in CR alone, convert the file"
                           : "put the field in quotes and double the quotes in it; or, if quotes "
                             "are ordinary characters in this file, read it with quote=None "
                             "and the framing \"csv,noquotes\"");
    return false;
}

/* Reads the fields in order, and keeps those that are wanted. All are read, because the number of
 * fields tells whether separators were forgotten or written into a field. */
bool row_find(struct text_piece *pieces, const struct text_source *source, const char *data,
              size_t size, struct read_fault *fault) {
    const struct text_format *format = &source->format;
    struct row row = {.pieces = pieces,
                      .next = source->order,
                      .at = data + field_mark_size(data, size),
                      .end = data + size,
                      .separator = format->separator,
                      .quote = format->has_quotes ? '"' : format->separator};
    for (bool is_last = false; !is_last && !read_plain(&row);)
        if (!read_hard(&is_last, &row, format, data, fault)) return false;
    if (row.stray) return fail_stray(row.stray, data, fault);
    if (row.at < row.end)
        return fault_set(fault, RECMAP_CORRUPT, (size_t)(row.at - data),
                         "a line feed is outside quotes: the record has more than one row");
    return has_count(source, row.count) || fail_count(source, row.count, fault);
}
