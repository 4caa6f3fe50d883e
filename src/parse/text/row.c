/* The fields of a row. */
#include <stdlib.h>

#include "base/core/plural.h"
#include "base/text/fields.h"
#include "base/text/find_byte.h"
#include "parse/decode/read_fault.h"
#include "parse/text/text_source.h"

static bool fail_count(const struct text_source *source, size_t count, struct read_fault *fault) {
    size_t last = source->key_count ? source->places[source->order[source->key_count - 1]] : 0;
    if (source->field_count)
        fault_set(fault, RECMAP_CORRUPT, SIZE_MAX,
                  "the row has %zu field%s, but the header has %zu", count, plural(count),
                  source->field_count);
    else
        fault_set(fault, RECMAP_CORRUPT, SIZE_MAX,
                  "the row has %zu field%s, but field %zu is requested", count, plural(count),
                  last);
    fault_advise(fault, "put fields that contain the separator in quotes, or skip bad records");
    return false;
}

/* Without a header, rows need only have the fields that are requested. */
static bool has_count(const struct text_source *source, size_t count) {
    if (source->field_count) return count == source->field_count;
    return !source->key_count || count > source->places[source->order[source->key_count - 1]];
}

/* The pieces that are wanted, while the fields of a row are read. */
struct wanted {
    struct text_piece *pieces;
    const struct text_source *source;
    size_t next;       /* of source->order */
    size_t count;      /* fields so far */
    const char *stray; /* the first quote or CR in a field that is not in quotes, or NULL */
    bool may_stray;    /* the row has quotes or CRs */
};

static inline void add_field(struct wanted *wanted, struct text_piece piece) {
    const struct text_source *source = wanted->source;
    for (; wanted->next < source->key_count; wanted->next++) {
        size_t key = source->order[wanted->next];
        if (source->places[key] != wanted->count) break;
        wanted->pieces[key] = piece;
    }
    wanted->count++;
}

/* Finds a quote or a CR in a field that is not in quotes. */
static void find_stray(struct wanted *wanted, const struct field_reader *reader, const char *first,
                       const char *end) {
    const char *found = find_byte(first, end, reader->quote, '\r', '\r');
    if (found < end && !wanted->stray) wanted->stray = found;
}

/* Reads fields without quotes, which most are, up to the first that begins with one or has a byte
 * that the reader must judge. Returns true at the end of the row. */
static bool read_plain(struct wanted *wanted, struct field_reader *reader) {
    const char *at = reader->at, *end = reader->end, separator = reader->separator;
    for (;; at++) {
        reader->at = at;
        if (at < end && *at == reader->quote && separator != reader->quote) return false;
        const char *first = at;
        at = find_byte(at, end, separator, '\n', 0);
        if (at < end && *at != separator) return false;
        bool has_return = at == end && at > first && at[-1] == '\r';
        if (wanted->may_stray) find_stray(wanted, reader, first, at - has_return);
        add_field(wanted,
                  (struct text_piece){.data = first, .size = (size_t)(at - first) - has_return});
        if (at == end) break;
    }
    reader->at = end;
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
    struct field_reader reader = text_format_reader(&source->format, data, size);
    struct field_text field = {.is_last = false};
    struct wanted wanted = {.pieces = pieces, .source = source};
    wanted.may_stray = find_byte(data, reader.end, '"', '\r', '\r') < reader.end;
    while (!field.is_last && !read_plain(&wanted, &reader)) {
        if (field_reader_next(&field, &reader, NULL) != RECMAP_OK)
            return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.fault_at - data), "%s",
                             reader.fault);
        add_field(&wanted, (struct text_piece){field.data, field.size, field.has_quotes, NULL});
    }
    if (wanted.stray) return fail_stray(wanted.stray, data, fault);
    if (reader.at < reader.end)
        return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.at - data),
                         "a line feed is outside quotes: the record has more than one row");
    return has_count(source, wanted.count) || fail_count(source, wanted.count, fault);
}
