#include "parse/text/header.h"

#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/text/fields.h"

/* Names in messages are cut to this many bytes. */
enum { SHOWN_MAX = 60 };

/* Compares texts in which quotes may be doubled. */
static bool is_same(const struct field_text *name, const struct field_text *other) {
    size_t i = 0, j = 0;
    while (i < name->size && j < other->size) {
        char byte = name->data[i];
        if (byte != other->data[j]) return false;
        i += 1 + (name->has_quotes && byte == '"');
        j += 1 + (other->has_quotes && byte == '"');
    }
    return i >= name->size && j >= other->size;
}

static int shown_size(const struct field_text *name) {
    return (int)min_u64(name->size, SHOWN_MAX);
}

static recmap_status advise(recmap_error *error) {
    fail_advise(error, "use files with different fields apart; if they have no header line, add "
                       "`,noheader` to the framing");
    return RECMAP_MISMATCH;
}

static size_t count_fields(const struct text_format *format) {
    struct field_reader reader = text_format_reader(format, format->header, format->header_size);
    struct field_text field = {.is_last = false};
    size_t count = 0;
    for (; !field.is_last && field_reader_next(&field, &reader, NULL) == RECMAP_OK; count++)
        continue;
    return count;
}

static recmap_status fail_count(size_t count, size_t due, const char *due_path,
                                recmap_error *error) {
    fail(error, RECMAP_MISMATCH, "the header line has %zu field%s, but %s has %zu", count,
         plural(count), due_path, due);
    return advise(error);
}

static recmap_status fail_name(size_t field, const struct field_text *name,
                               const struct field_text *due, const char *due_path,
                               recmap_error *error) {
    fail(error, RECMAP_MISMATCH,
         "field %zu of the header line is `%.*s` (the first is field 0), but in %s it is `%.*s`",
         field, shown_size(name), name->data, due_path, shown_size(due), due->data);
    return advise(error);
}

static recmap_status fail_row(const struct field_reader *reader, const char *due_path,
                              recmap_error *error) {
    fail(error, RECMAP_MISMATCH, "the first line is not the header line of %s: %s", due_path,
         reader->fault);
    return advise(error);
}

/* Reads both rows field by field, and so meets the first difference without allocating. */
recmap_status header_check(const struct text_format *header, const struct text_format *due,
                           const char *due_path, recmap_error *error) {
    struct field_reader reader = text_format_reader(header, header->header, header->header_size);
    struct field_reader due_reader = text_format_reader(due, due->header, due->header_size);
    struct field_text name = {.is_last = false}, due_name = {.is_last = false};
    if (header->header_size == due->header_size && header->separator == due->separator &&
        !memcmp(header->header, due->header, due->header_size))
        return RECMAP_OK;
    for (size_t field = 0; !name.is_last && !due_name.is_last; field++) {
        if (field_reader_next(&name, &reader, NULL) != RECMAP_OK)
            return fail_row(&reader, due_path, error);
        if (field_reader_next(&due_name, &due_reader, NULL) != RECMAP_OK)
            return fail_row(&due_reader, due_path, error);
        if (!is_same(&name, &due_name)) return fail_name(field, &name, &due_name, due_path, error);
    }
    if (name.is_last == due_name.is_last) return RECMAP_OK;
    return fail_count(count_fields(header), count_fields(due), due_path, error);
}
