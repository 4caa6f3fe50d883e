/* Records of text as JSON: rows by the names of their fields, and JSON objects as they are. */
#include <recmap/table.h>

#include <stdlib.h>
#include <string.h>

#include <recmap/example.h>

#include "base/text/fields.h"
#include "base/text/json.h"
#include "base/text/json_reader.h"
#include "dataset/open/dataset.h"
#include "format/framing/lines.h"

/* A row of text, field by field. */
struct row_text {
    struct field_reader reader;
    struct field_text field;
    char *unquoted; /* room for a field, with a NUL */
};

static bool open_row(struct row_text *row, const struct framing *framing, const char *data,
                     size_t size) {
    *row = (struct row_text){.unquoted = malloc(size + 1)};
    field_reader_init(&row->reader, data, size, framing->separator, NULL);
    if (!framing->has_quotes) row->reader.quote = framing->separator;
    return row->unquoted != NULL;
}

/* Reads the next field into `unquoted`. Returns false if the row is malformed. */
static bool read_field(struct row_text *row) {
    if (row->field.is_last || field_reader_next(&row->field, &row->reader, NULL) != RECMAP_OK)
        return false;
    size_t size = row->field.size;
    if (row->field.has_quotes) size = field_text_unquote(row->unquoted, &row->field);
    else memcpy(row->unquoted, row->field.data, size);
    row->unquoted[size] = 0;
    return true;
}

/* Writes an object of the fields, or without names an array. Returns false if the row is malformed
 * or has another number of fields than the header. */
static bool write_fields(struct json_writer *json, struct row_text *row, struct row_text *names) {
    json_open(json, names ? '{' : '[');
    do {
        if (!read_field(row) || (names && !read_field(names))) return false;
        if (names) json_key(json, names->unquoted);
        json_text(json, row->unquoted);
    } while (!row->field.is_last);
    json_close(json, names ? '}' : ']');
    return row->reader.at == row->reader.end && (!names || names->field.is_last);
}

/* Sets `is_written` unless the row is malformed, and nothing was written. */
static recmap_status write_row(bool *is_written, recmap_text *text, const struct framing *framing,
                               const char *header, size_t header_size, const recmap_record *record,
                               recmap_error *error) {
    struct json_writer json = json_begin(text);
    struct row_text row, names = {.unquoted = NULL};
    bool has_memory = open_row(&row, framing, (const char *)record->data, record->size);
    if (header) has_memory &= open_row(&names, framing, header, header_size);
    json.failed = !has_memory;
    *is_written = has_memory && write_fields(&json, &row, header ? &names : NULL);
    if (has_memory && !*is_written && !json.failed) json_restart(&json);
    free(row.unquoted);
    free(names.unquoted);
    return json_end(&json, error);
}

static bool is_object(const recmap_record *record) {
    const char *text = (const char *)record->data;
    struct json_reader reader = {text, text + record->size};
    return json_peek(&reader) == '{' && json_check_value(&reader) && json_at_end(&reader) &&
           utf8_valid(record->data, record->size);
}

static const struct framing *framing_of(const recmap_dataset *dataset, uint64_t number) {
    struct index_place place;
    if (number >= dataset->info.record_count ||
        dataset_find_place(&place, dataset, number, NULL) != RECMAP_OK)
        return NULL;
    return dataset->shard_table[place.shard_index].framing;
}

recmap_status recmap_dataset_record_to_json(recmap_text *text, const recmap_dataset *dataset,
                                            const recmap_record *record, recmap_error *error) {
    const struct framing *framing = framing_of(dataset, record->number);
    bool is_written = false;
    size_t size;
    if (framing && framing->separator) {
        const char *header = recmap_dataset_header(&size, dataset);
        RETURN_IF_FAILED(write_row(&is_written, text, framing, header, size, record, error));
    } else if (framing && framing->parse == lines_framing.parse && is_object(record)) {
        struct json_writer json = json_begin(text);
        json.failed = !text_append(text, (const char *)record->data, record->size);
        return json_end(&json, error);
    }
    return is_written ? RECMAP_OK : recmap_record_to_json(text, record, error);
}
