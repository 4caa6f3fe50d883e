#include "parse/message/json_field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parse/message/message_form.h"

enum { NAME_SIZE = 512 };

/* "center_x" is centerX, unless the descriptor says otherwise. */
void json_put_name(struct json_writer *json, const struct field_def *field) {
    char name[NAME_SIZE];
    size_t size = 0;
    bool is_upper = false;
    if (field->json_name) {
        json_key(json, field->json_name);
        return;
    }
    for (const char *c = field->name; *c && size < sizeof name - 1; c++) {
        char upper = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        if (*c != '_') name[size++] = is_upper ? upper : *c;
        is_upper = *c == '_';
    }
    json_key_sized(json, name, size);
}

static void put_double(struct json_writer *json, uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isnan(value)) json_text(json, "NaN");
    else if (isinf(value)) json_text(json, value > 0 ? "Infinity" : "-Infinity");
    else json_double(json, value);
}

static void put_float(struct json_writer *json, uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    json_float(json, value);
}

static void put_enum(struct json_writer *json, const struct enum_def *enumeration, int32_t number) {
    const char *name = enum_def_name(enumeration, number);
    if (name) json_text(json, name);
    else json_int64(json, number);
}

static void put_uint64_text(struct json_writer *json, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    json_text(json, text);
}

static bool put_string(struct json_writer *json, struct wire contents) {
    json_text_sized(json, contents.at, wire_left(&contents));
    return utf8_valid(contents.at, wire_left(&contents));
}

bool json_put_value(struct json_writer *json, const struct json_value *value) {
    const struct field_def *field = value->field;
    uint64_t number = message_integer(message_form_of(field), value->bits);
    switch (field->type) {
    case FIELD_DOUBLE: put_double(json, value->bits); return true;
    case FIELD_FLOAT: put_float(json, (uint32_t)value->bits); return true;
    case FIELD_STRING: return put_string(json, value->contents);
    case FIELD_BYTES:
        json_base64(json, value->contents.at, wire_left(&value->contents));
        return true;
    case FIELD_BOOL: json_bool(json, number); return true;
    case FIELD_ENUM: put_enum(json, field->enumeration, (int32_t)number); return true;
    case FIELD_UINT64:
    case FIELD_FIXED64: put_uint64_text(json, number); return true;
    case FIELD_INT64:
    case FIELD_SFIXED64:
    case FIELD_SINT64: json_int64_string(json, (int64_t)number); return true;
    default: json_int64(json, (int64_t)number); return true;
    }
}

bool json_put_key(struct json_writer *json, const struct json_value *value) {
    const struct field_def *field = value->field;
    uint64_t number = message_integer(message_form_of(field), value->bits);
    char text[24];
    bool is_unsigned = field->type == FIELD_UINT64 || field->type == FIELD_FIXED64;
    if (field->type == FIELD_STRING) {
        json_key_sized(json, value->contents.at, wire_left(&value->contents));
        return utf8_valid(value->contents.at, wire_left(&value->contents));
    }
    if (field->type == FIELD_BOOL) snprintf(text, sizeof text, "%s", number ? "true" : "false");
    else if (is_unsigned) snprintf(text, sizeof text, "%" PRIu64, number);
    else snprintf(text, sizeof text, "%" PRId64, (int64_t)number);
    json_key(json, text);
    return true;
}

bool json_is_default(const struct json_value *value) {
    const struct field_def *field = value->field;
    if (field->has_presence || field->is_repeated) return false;
    if (field->type == FIELD_STRING || field->type == FIELD_BYTES)
        return wire_done(&value->contents);
    return message_integer(message_form_of(field), value->bits) == 0;
}

struct json_value json_default_of(const struct field_def *field) {
    static const uint8_t nothing[1];
    const uint8_t *bytes = field->default_bytes ? field->default_bytes : nothing;
    return (struct json_value){.field = field,
                               .bits = field->default_bits,
                               .contents = {bytes, bytes + field->default_size}};
}
