/* The fields of a row. */
#include <stdlib.h>

#include "base/core/plural.h"
#include "base/text/fields.h"
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

/* Reads the fields in order, and keeps those that are wanted. All are read, because the number of
 * fields tells whether separators were forgotten or written into a field. */
bool row_find(struct text_piece *pieces, const struct text_source *source, const char *data,
              size_t size, struct read_fault *fault) {
    struct field_reader reader;
    struct field_text field = {.is_last = false};
    size_t count = 0, next = 0;
    field_reader_init(&reader, data, size, source->format.separator, NULL);
    if (!source->format.has_quotes) reader.quote = reader.separator;
    for (; !field.is_last; count++) {
        if (field_reader_next(&field, &reader, NULL) != RECMAP_OK)
            return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.fault_at - data), "%s",
                             reader.fault);
        for (; next < source->key_count && source->places[source->order[next]] == count; next++)
            pieces[source->order[next]] =
                (struct text_piece){field.data, field.size, field.has_quotes};
    }
    if (reader.at < reader.end)
        return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.at - data),
                         "a line feed is outside quotes: the record has more than one row");
    return has_count(source, count) || fail_count(source, count, fault);
}
