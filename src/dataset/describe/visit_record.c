/* The parts of a record of text: the fields of a row, or the members of a JSON object. */
#include <recmap/table.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/text/json_reader.h"
#include "base/text/plain_number.h"
#include "dataset/describe/record_framing.h"
#include "dataset/describe/row_text.h"

struct visit {
    recmap_example_visit_fn pass;
    void *context;
    recmap_error *error;
};

/* Passes a part with one value, which the part's members point to. */
static recmap_status pass_value(const struct visit *visit, recmap_example_part part,
                                const struct text_value *value, const char *text) {
    float number = (float)value->number;
    recmap_bytes bytes = {(const uint8_t *)text, value->size};
    part.kind = RECMAP_EXAMPLE_PART_FEATURE;
    part.count = 1;
    switch (value->kind) {
    case TEXT_INT64:
        part.type = RECMAP_TYPE_INT64;
        part.int64s = &value->integer;
        break;
    case TEXT_FLOAT:
        part.type = RECMAP_TYPE_FLOAT;
        part.floats = &number;
        break;
    default: part.type = RECMAP_TYPE_BYTES; part.bytes = &bytes;
    }
    return visit->pass(&part, visit->context);
}

static recmap_status pass_nothing(const struct visit *visit, recmap_example_part part) {
    part.kind = RECMAP_EXAMPLE_PART_FEATURE;
    return visit->pass(&part, visit->context);
}

/* ---- Rows. */

static recmap_status visit_fields(const struct visit *visit, struct row_text *row,
                                  struct row_text *names) {
    recmap_status status = RECMAP_OK;
    for (size_t place = 0; status == RECMAP_OK && !row->field.is_last; place++) {
        char position[ROW_POSITION_SIZE];
        (void)!row_text_next(row);
        if (names) (void)!row_text_next(names);
        recmap_example_part part = {.name = position};
        if (names) part = (recmap_example_part){.name = names->unquoted, .name_size = names->size};
        else part.name_size = row_position_name(position, place);
        const struct text_value value = row_text_value(row);
        status = row->size ? pass_value(visit, part, &value, row->unquoted)
                           : pass_nothing(visit, part);
    }
    return status;
}

static recmap_status visit_row(bool *is_row, const struct visit *visit,
                               const struct framing *framing, const recmap_dataset *dataset,
                               const recmap_record *record) {
    size_t header_size;
    const char *header = recmap_dataset_header(&header_size, dataset);
    struct row_text row, names = {.unquoted = NULL};
    bool has_memory = row_text_init(&row, framing, (const char *)record->data, record->size);
    if (header) has_memory &= row_text_init(&names, framing, header, header_size);
    *is_row = has_memory && row_text_is_sound(row, names, header != NULL);
    recmap_status status = has_memory ? RECMAP_OK : fail_memory(visit->error);
    if (*is_row) status = visit_fields(visit, &row, header ? &names : NULL);
    row_text_deinit(&row);
    row_text_deinit(&names);
    return status;
}

/* ---- JSON objects, whose syntax was checked. */

struct members {
    const struct visit *visit;
    struct json_reader reader;
    char *name; /* decoded; as large as the record */
    char *text; /* the same, for a string */
    size_t size;
};

/* A number of an array, or what is left of it. */
static bool read_number(float *number, struct json_reader *reader) {
    double value;
    char first = json_peek(reader);
    const char *text = reader->at;
    if (first == '"' || !json_check_value(reader)) return false;
    if (!plain_double(&value, text, (size_t)(reader->at - text))) return false;
    *number = (float)value;
    return true;
}

/* Reads an array of numbers. Returns false for any other value, or without memory. */
static bool read_numbers(float **numbers, size_t *count, struct json_reader reader) {
    size_t capacity = 0;
    *count = 0;
    if (!json_take(&reader, '[') || json_peek(&reader) == ']') return false;
    do {
        if (!array_reserve(numbers, &capacity, *count + 1, sizeof **numbers)) return false;
        if (!read_number(&(*numbers)[(*count)++], &reader)) return false;
    } while (json_take(&reader, ','));
    return json_take(&reader, ']');
}

static recmap_status visit_array(const struct members *members, recmap_example_part part,
                                 const struct text_value *raw, const char *text) {
    float *numbers = NULL;
    struct json_reader reader = {text, text + raw->size};
    recmap_status status;
    if (read_numbers(&numbers, &part.count, reader)) {
        part.kind = RECMAP_EXAMPLE_PART_FEATURE;
        part.type = RECMAP_TYPE_FLOAT;
        part.floats = numbers;
        status = members->visit->pass(&part, members->visit->context);
    } else {
        status = pass_value(members->visit, part, raw, text);
    }
    free(numbers);
    return status;
}

static recmap_status visit_value(struct members *members, recmap_example_part part) {
    struct json_reader *reader = &members->reader;
    struct json_string string;
    char first = json_peek(reader);
    const char *text = reader->at;
    struct json_reader start = *reader;
    (void)!json_check_value(reader);
    struct text_value value = {.kind = TEXT_BYTES, .size = (size_t)(reader->at - text)};
    if (first == 'n') return pass_nothing(members->visit, part);
    if (first == '[') return visit_array(members, part, &value, text);
    if (first == '"' && json_read_string(&string, &start)) {
        value.size = json_string_decode(members->text, members->size, &string);
        return pass_value(members->visit, part, &value, members->text);
    }
    if (plain_int64(&value.integer, text, value.size)) value.kind = TEXT_INT64;
    else if (plain_double(&value.number, text, value.size)) value.kind = TEXT_FLOAT;
    return pass_value(members->visit, part, &value, text);
}

static recmap_status visit_members(struct members *members) {
    struct json_reader *reader = &members->reader;
    recmap_status status = RECMAP_OK;
    json_take(reader, '{');
    if (json_peek(reader) == '}') return RECMAP_OK;
    do {
        struct json_string name;
        struct json_reader start = *reader;
        recmap_example_part part = {.name = members->name};
        if (json_read_string(&name, reader)) {
            part.name_size = json_string_decode(members->name, members->size, &name);
        } else { /* half of a surrogate pair */
            *reader = start;
            (void)!json_check_value(reader);
        }
        json_take(reader, ':');
        status = visit_value(members, part);
    } while (status == RECMAP_OK && json_take(reader, ','));
    return status;
}

static recmap_status visit_object(const struct visit *visit, const recmap_record *record) {
    const char *text = (const char *)record->data;
    struct members members = {.visit = visit,
                              .reader = {text, text + record->size},
                              .name = malloc(record->size),
                              .text = malloc(record->size),
                              .size = record->size};
    recmap_status status = members.name && members.text ? visit_members(&members)
                                                        : fail_memory(visit->error);
    free(members.name);
    free(members.text);
    return status;
}

recmap_status recmap_dataset_visit(recmap_example_visit_fn visit, void *context,
                                   const recmap_dataset *dataset, const recmap_record *record,
                                   recmap_error *error) {
    const struct visit visiting = {visit, context, error};
    const struct framing *framing = record_framing(dataset, record->number);
    if (record_is_json(framing, record)) return visit_object(&visiting, record);
    if (framing && framing->separator) {
        bool is_row;
        recmap_status status = visit_row(&is_row, &visiting, framing, dataset, record);
        if (is_row || status != RECMAP_OK) return status;
    }
    return recmap_example_visit(visit, context, record->data, record->size, error);
}
