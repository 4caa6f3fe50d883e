/* Writes a message as one line of JSON.
 *
 * A message is read from pieces: if a submessage is there several times, each time is a piece. The
 * values of all pieces are collected, sorted by the numbers of their fields, and written. */
#include <recmap/message.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "parse/message/json_field.h"

/* As deep as protobuf reads messages. */
enum { JSON_DEPTH_MAX = 100 };

struct printer {
    struct json_writer json;
    bool is_good; /* the bytes are such a message, as far as they were read */
    bool is_out;  /* of memory */
    unsigned depth;
};

/* The values in the pieces of one message. */
struct values {
    struct json_value *items;
    size_t count, capacity;
};

static bool refuse(struct printer *printer) {
    printer->is_good = false;
    return false;
}

static bool run_out(struct printer *printer) {
    printer->is_out = true;
    return false;
}

/* ---- Collecting. Each function returns false if the bytes are malformed or memory runs out. */

static bool read_value(struct json_value *value, struct wire *wire, uint32_t tag) {
    struct wire_trace trace = {0};
    uint32_t low;
    const uint8_t *start = wire->at;
    switch (tag & 7) {
    case WIRE_VARINT: return wire_read_varint(&value->bits, wire, &trace);
    case WIRE_FIXED64:
        if (wire_left(wire) < 8) return false;
        value->bits = load64(wire->at);
        wire->at += 8;
        return true;
    case WIRE_FIXED32:
        if (!wire_read_fixed32(&low, wire, &trace)) return false;
        value->bits = low;
        return true;
    case WIRE_GROUP:
        if (!wire_skip(wire, tag, 0, &trace)) return false;
        value->contents = (struct wire){start, wire->at};
        return true;
    default: return wire_read_bytes(&value->contents, wire, &trace);
    }
}

static bool add_value(struct printer *printer, struct values *values,
                      const struct json_value *value) {
    const struct enum_def *closed = value->field->enumeration;
    if (closed && closed->is_closed && !enum_def_has(closed, (int32_t)(uint32_t)value->bits))
        return true;
    if (!array_reserve(&values->items, &values->capacity, values->count + 1, sizeof *values->items))
        return run_out(printer);
    values->items[values->count] = *value;
    values->items[values->count].place = values->count;
    values->count++;
    return true;
}

static bool add_packed(struct printer *printer, struct values *values,
                       const struct field_def *field, struct wire packed) {
    uint32_t tag = field->number << 3 | field_wire_type(field);
    while (!wire_done(&packed)) {
        struct json_value value = {.field = field};
        if (!read_value(&value, &packed, tag)) return refuse(printer);
        if (!add_value(printer, values, &value)) return false;
    }
    return true;
}

/* Fields that the type does not have are left out, as protobuf does. */
static bool add_field(struct printer *printer, struct values *values, const struct message_def *def,
                      struct wire *piece, uint32_t tag) {
    const struct field_def *field = message_def_find(def, tag >> 3);
    struct json_value value = {.field = field};
    struct wire_trace trace = {0};
    bool is_packed = field && field->is_repeated && field_is_packable(field) &&
                     (tag & 7) == WIRE_BYTES;
    if (!field || (!is_packed && (tag & 7) != field_wire_type(field)))
        return wire_skip(piece, tag, 0, &trace) || refuse(printer);
    if (!read_value(&value, piece, tag)) return refuse(printer);
    return is_packed ? add_packed(printer, values, field, value.contents)
                     : add_value(printer, values, &value);
}

/* The piece of a group ends with a tag. */
static bool add_piece(struct printer *printer, struct values *values, const struct message_def *def,
                      struct wire piece, bool is_group) {
    struct wire_trace trace = {0};
    uint32_t tag;
    while (!wire_done(&piece)) {
        if (!wire_read_tag(&tag, &piece, &trace)) return refuse(printer);
        if (is_group && (tag & 7) == WIRE_GROUP_END) return true;
        if (!add_field(printer, values, def, &piece, tag)) return false;
    }
    return true;
}

/* Of a oneof only the last member counts, and what it had before another member came is lost. */
static bool drop_replaced(struct printer *printer, struct values *values,
                          const struct message_def *def) {
    const struct field_def **last = calloc(def->oneof_count + 1, sizeof *last);
    bool *is_over = calloc(def->oneof_count + 1, sizeof *is_over);
    size_t kept = values->count;
    for (size_t i = values->count; last && is_over && i-- > 0;) {
        const struct field_def *field = values->items[i].field;
        size_t oneof = field->oneof;
        if (oneof != SIZE_MAX) {
            if (!last[oneof]) last[oneof] = field;
            is_over[oneof] |= last[oneof] != field;
            if (is_over[oneof]) continue;
        }
        values->items[--kept] = values->items[i];
    }
    bool is_good = last && is_over;
    free(last);
    free(is_over);
    if (!is_good) return run_out(printer);
    values->count -= kept;
    memmove(values->items, values->items + kept, values->count * sizeof *values->items);
    return true;
}

static int compare_values(const void *a, const void *b) {
    const struct json_value *x = a, *y = b;
    if (x->field != y->field) return x->field->number < y->field->number ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Collects the values of all pieces, which are values of one field or the record. */
static bool collect(struct printer *printer, struct values *values, const struct message_def *def,
                    const struct json_value *pieces, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool is_group = pieces[i].field && pieces[i].field->type == FIELD_GROUP;
        if (!add_piece(printer, values, def, pieces[i].contents, is_group)) return false;
    }
    if (!values->count) return true;
    if (def->oneof_count && !drop_replaced(printer, values, def)) return false;
    qsort(values->items, values->count, sizeof *values->items, compare_values);
    return true;
}

/* ---- Writing. */

static bool put_message(struct printer *printer, const struct message_def *def,
                        const struct json_value *pieces, size_t count);

static bool put_value(struct printer *printer, const struct json_value *value) {
    if (value->field->message) return put_message(printer, value->field->message, value, 1);
    return json_put_value(&printer->json, value) || refuse(printer);
}

static bool put_array(struct printer *printer, const struct json_value *values, size_t count) {
    json_open(&printer->json, '[');
    for (size_t i = 0; i < count; i++)
        if (!put_value(printer, &values[i])) return false;
    json_close(&printer->json, ']');
    return true;
}

/* The entry of a map: its key is the last one, or the default, and its value the last one, or all
 * pieces of a message. */
static bool put_entry(struct printer *printer, const struct json_value *entry) {
    const struct message_def *def = entry->field->message;
    const struct field_def *key_field = message_def_find(def, 1),
                           *value_field = message_def_find(def, 2);
    if (!key_field || !value_field) return refuse(printer);
    struct values values = {NULL, 0, 0};
    struct json_value key = json_default_of(key_field), value = json_default_of(value_field);
    size_t first = 0;
    bool is_good = collect(printer, &values, def, entry, 1);
    for (; is_good && first < values.count && values.items[first].field == key_field; first++)
        key = values.items[first];
    if (values.count > first) value = values.items[values.count - 1];
    is_good = is_good && (json_put_key(&printer->json, &key) || refuse(printer));
    if (is_good)
        is_good = value_field->message ? put_message(printer, value_field->message,
                                                     values.items + first, values.count - first)
                                       : put_value(printer, &value);
    free(values.items);
    return is_good;
}

static bool put_map(struct printer *printer, const struct json_value *entries, size_t count) {
    json_open(&printer->json, '{');
    for (size_t i = 0; i < count; i++)
        if (!put_entry(printer, &entries[i])) return false;
    json_close(&printer->json, '}');
    return true;
}

/* All values of one field. */
static bool put_field(struct printer *printer, const struct json_value *values, size_t count) {
    const struct field_def *field = values->field;
    const struct json_value *last = &values[count - 1];
    if (json_is_default(last) && !field->message) return true;
    json_put_name(&printer->json, field);
    if (field->message && field->message->is_map_entry) return put_map(printer, values, count);
    if (field->is_repeated) return put_array(printer, values, count);
    return field->message ? put_message(printer, field->message, values, count)
                          : put_value(printer, last);
}

static bool put_fields(struct printer *printer, const struct values *values) {
    json_open(&printer->json, '{');
    for (size_t i = 0, next; i < values->count; i = next) {
        for (next = i + 1; next < values->count; next++)
            if (values->items[next].field != values->items[i].field) break;
        if (!put_field(printer, &values->items[i], next - i)) return false;
    }
    json_close(&printer->json, '}');
    return true;
}

/* Recursive, at most JSON_DEPTH_MAX levels deep. */
static bool put_message(struct printer *printer, const struct message_def *def,
                        const struct json_value *pieces, size_t count) {
    struct values values = {NULL, 0, 0};
    if (printer->depth == JSON_DEPTH_MAX) return refuse(printer);
    printer->depth++;
    bool is_good = collect(printer, &values, def, pieces, count) && put_fields(printer, &values);
    printer->depth--;
    free(values.items);
    return is_good;
}

static void put_base64(struct json_writer *json, const recmap_record *record) {
    json_restart(json);
    json_open(json, '{');
    json_key(json, "number");
    json_uint64(json, record->number);
    json_key(json, "base64");
    json_base64(json, record->data, record->size);
    json_close(json, '}');
}

recmap_status recmap_message_to_json(recmap_text *text, const recmap_message_type *type,
                                     const recmap_record *record, recmap_error *error) {
    static const uint8_t nothing[1];
    if (!type->root)
        return fail(error, RECMAP_INVALID,
                    "the type of the messages is not known without a descriptor set");
    const uint8_t *data = record->size ? record->data : nothing;
    const struct json_value piece = {.contents = {data, data + record->size}};
    struct printer printer = {.json = json_begin(text), .is_good = true};
    put_message(&printer, type->root, &piece, 1);
    if (!printer.is_good) put_base64(&printer.json, record);
    printer.json.failed |= printer.is_out;
    return json_end(&printer.json, error);
}
