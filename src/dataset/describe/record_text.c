/* Records of text as JSON: rows by the names of their fields, and JSON objects as they are. */
#include <recmap/table.h>

#include <recmap/example.h>

#include "base/text/json.h"
#include "dataset/describe/record_framing.h"
#include "dataset/describe/row_text.h"

/* Writes an object of the fields, or without names an array. Returns false if the row is malformed
 * or has another number of fields than the header. */
static bool write_fields(struct json_writer *json, struct row_text *row, struct row_text *names) {
    json_open(json, names ? '{' : '[');
    do {
        if (!row_text_next(row) || (names && !row_text_next(names))) return false;
        if (names) json_key(json, names->unquoted);
        json_text(json, row->unquoted);
    } while (!row->field.is_last);
    json_close(json, names ? '}' : ']');
    return row_text_at_end(row) && (!names || names->field.is_last);
}

/* Sets `is_written` unless the row is malformed, and nothing was written. */
static recmap_status write_row(bool *is_written, recmap_text *text, const struct framing *framing,
                               const char *header, size_t header_size, const recmap_record *record,
                               recmap_error *error) {
    struct json_writer json = json_begin(text);
    struct row_text row, names = {.unquoted = NULL};
    bool has_memory = row_text_init(&row, framing, (const char *)record->data, record->size);
    if (header) has_memory &= row_text_init(&names, framing, header, header_size);
    json.failed = !has_memory;
    *is_written = has_memory && write_fields(&json, &row, header ? &names : NULL);
    if (has_memory && !*is_written && !json.failed) json_restart(&json);
    row_text_deinit(&row);
    row_text_deinit(&names);
    return json_end(&json, error);
}

recmap_status recmap_dataset_record_to_json(recmap_text *text, const recmap_dataset *dataset,
                                            const recmap_record *record, recmap_error *error) {
    const struct framing *framing = record_framing(dataset, record->number);
    bool is_written = false;
    size_t size;
    if (framing && framing->separator) {
        const char *header = recmap_dataset_header(&size, dataset);
        RETURN_IF_FAILED(write_row(&is_written, text, framing, header, size, record, error));
    } else if (record_is_json(framing, record)) {
        struct json_writer json = json_begin(text);
        json.failed = !text_append(text, (const char *)record->data, record->size);
        return json_end(&json, error);
    }
    return is_written ? RECMAP_OK : recmap_record_to_json(text, record, error);
}
