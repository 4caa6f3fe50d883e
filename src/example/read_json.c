/* Reading protobuf's JSON mapping of tf.Example and tf.SequenceExample into a builder. Objects are
 * known by the tables of their fields; nothing nests deeper than those do. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "example/building.h"

struct reading {
    struct json_reader reader;
    const char *text;
    recmap_example_builder *builder;
    recmap_error *error;
    recmap_status status;
    const char *name; /* of the feature or list that is being read; NULL: none */
    size_t name_size;
    size_t origin;    /* where it stands in the text */
    recmap_type kind; /* of the feature that is being read */
    bool is_base64;   /* the record came as it is */
};

static bool refuse(struct reading *reading, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error, at a byte of the text. Returns false. */
static bool refuse(struct reading *reading, const char *at, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reading->status = RECMAP_INVALID;
    int shown = reading->name_size < 200 ? (int)reading->name_size : 200;
    if (reading->name)
        fail(reading->error, RECMAP_INVALID, "feature '%.*s': %s", shown, reading->name, text);
    else fail(reading->error, RECMAP_INVALID, "%s", text);
    fail_at(reading->error, NULL, RECMAP_NO_RECORD, (uint64_t)(at - reading->text));
    return false;
}

static bool run_out(struct reading *reading) {
    reading->status = fail_memory(reading->error);
    return false;
}

static bool take(struct reading *reading, char wanted) {
    return json_take(&reading->reader, wanted) ||
           refuse(reading, reading->reader.at, "'%c' is expected", wanted);
}

static bool read_string(struct json_string *string, struct reading *reading) {
    if (json_peek(&reading->reader) != '"')
        return refuse(reading, reading->reader.at, "a string is expected");
    return json_read_string(string, &reading->reader) ||
           refuse(reading, reading->reader.at, "the string is not whole, or not UTF-8");
}

/* What a string means, without its escapes: into `room` where there are any. */
static bool plain_text(const char **text, size_t *size, struct message_writer *room,
                       const struct json_string *string, struct reading *reading) {
    *text = string->data;
    *size = string->size;
    if (!string->has_escapes) return true;
    room->size = 0;
    if (!message_reserve(room, string->size)) return run_out(reading);
    *text = (const char *)room->data;
    *size = json_string_decode((char *)room->data, string->size, string);
    return true;
}

/* Reads an object or an array: calls `read` for each of its items. */
typedef bool (*read_fn)(struct reading *r, void *context);

static bool read_items(struct reading *reading, const char brackets[2], read_fn read,
                       void *context) {
    if (!take(reading, brackets[0])) return false;
    if (json_take(&reading->reader, brackets[1])) return true;
    do
        if (!read(reading, context)) return false;
    while (json_take(&reading->reader, ','));
    return json_take(&reading->reader, brackets[1]) ||
           refuse(reading, reading->reader.at, "',' or '%c' is expected", brackets[1]);
}

/* A field of a message: both spellings of its name. */
struct json_field {
    const char *name;
    const char *other;
    int group; /* fields of different groups do not go together */
    bool (*read)(struct reading *reading);
};

/* A message: its fields, which end with a row of zeros, and which of them came. */
struct json_message {
    const struct json_field *fields;
    unsigned seen; /* a bit each */
    int group;
};

static bool read_field(struct reading *reading, void *context) {
    struct json_message *message = context;
    struct json_string key = {0};
    json_peek(&reading->reader);
    const char *at = reading->reader.at;
    if (!read_string(&key, reading)) return false;
    unsigned i = 0;
    const struct json_field *field = message->fields;
    while (field->name && !json_string_is(&key, field->name) && !json_string_is(&key, field->other))
        i++, field++;
    int shown = key.size < 64 ? (int)key.size : 64;
    if (!field->name) return refuse(reading, at, "unknown field '%.*s'", shown, key.data);
    if (message->seen >> i & 1) return refuse(reading, at, "field '%s' comes twice", field->name);
    if (message->seen && message->group != field->group)
        return refuse(reading, at, "field '%s' belongs to another message", field->name);
    message->seen |= 1u << i;
    message->group = field->group;
    if (!take(reading, ':')) return false;
    /* As if it were not there. */
    if (json_take_word(&reading->reader, "null")) return true;
    return field->read(reading);
}

static bool read_message(struct reading *reading, const struct json_field *fields) {
    struct json_message message = {.fields = fields};
    return read_items(reading, "{}", read_field, &message);
}

/* A number, or what a string in its place says: which is a number too, or a name. */
static bool read_number(struct json_number *number, bool *is_quoted, struct reading *reading) {
    struct json_string string = {0};
    char first = json_peek(&reading->reader);
    const char *at = reading->reader.at;
    *is_quoted = first == '"';
    if (!*is_quoted)
        return json_read_number(number, &reading->reader) ||
               refuse(reading, at, "a number is expected");
    return read_string(&string, reading) &&
           plain_text(&number->data, &number->size, &reading->builder->plain, &string, reading);
}

static bool is_number(const struct json_number *text) {
    struct json_reader inside = {text->data, text->data + text->size};
    struct json_number found;
    return json_read_number(&found, &inside) && found.size == text->size;
}

static bool read_int64(struct reading *reading, void *context) {
    (void)context;
    struct message_writer *values = &reading->builder->values;
    struct json_number number;
    bool is_quoted;
    int64_t value;
    json_peek(&reading->reader);
    const char *at = reading->reader.at;
    if (!read_number(&number, &is_quoted, reading)) return false;
    if (is_quoted && !is_number(&number)) return refuse(reading, at, "the string is no number");
    if (!json_number_to_int64(&value, &number))
        return refuse(reading, at, "the number is no whole one of 64 bits");
    if (!message_reserve(values, 10)) return run_out(reading);
    message_put_varint(values, (uint64_t)value);
    return true;
}

/* The floats that are no numbers in JSON. */
static bool find_named_float(uint32_t *bits, const struct json_number *text) {
    static const struct {
        const char *name;
        uint32_t bits;
    } floats[] = {{"NaN", 0x7fc00000}, {"Infinity", 0x7f800000}, {"-Infinity", 0xff800000}};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (text->size != strlen(floats[i].name)) continue;
        if (memcmp(text->data, floats[i].name, text->size)) continue;
        *bits = floats[i].bits;
        return true;
    }
    return false;
}

static bool read_float(struct reading *reading, void *context) {
    (void)context;
    struct message_writer *values = &reading->builder->values;
    struct json_number number;
    bool is_quoted;
    uint32_t bits;
    json_peek(&reading->reader);
    const char *at = reading->reader.at;
    if (!read_number(&number, &is_quoted, reading)) return false;
    if (!is_quoted || !find_named_float(&bits, &number)) {
        if (is_quoted && !is_number(&number)) return refuse(reading, at, "the string is no number");
        double value = json_number_to_double(&number);
        /* Half way from the largest float to the next power of two. */
        if (fabs(value) >= 0x1.ffffffp127)
            return refuse(reading, at, "the number is too large for a float");
        memcpy(&bits, &(float){(float)value}, sizeof bits);
    }
    if (!message_reserve(values, 4)) return run_out(reading);
    store32(values->data + values->size, bits);
    values->size += 4;
    return true;
}

/* Decodes a string of base64 behind what `to` holds; `head_size` bytes are left for a head. */
static bool read_base64(struct message_writer *writer, size_t head_size, size_t *size,
                        struct reading *reading) {
    struct json_string string = {0};
    const char *text;
    size_t text_size, fault;
    if (!read_string(&string, reading)) return false;
    if (!plain_text(&text, &text_size, &reading->builder->plain, &string, reading)) return false;
    if (!message_reserve(writer, head_size + base64_capacity(text_size))) return run_out(reading);
    *size = base64_decode(writer->data + writer->size + head_size, &fault, text, text_size);
    if (*size != SIZE_MAX) return true;
    return refuse(reading, string.data + (string.has_escapes ? 0 : fault), "this is no base64");
}

/* The head's size is known when the bytes are there. */
static bool read_bytes(struct reading *reading, void *context) {
    (void)context;
    enum { HEAD_MAX = 11 };
    struct message_writer *values = &reading->builder->values;
    size_t size;
    if (!read_base64(values, HEAD_MAX, &size, reading)) return false;
    const uint8_t *decoded = values->data + values->size + HEAD_MAX;
    message_put_head(values, 1 << 3 | 2, size);
    if (size) memmove(values->data + values->size, decoded, size);
    values->size += size;
    return true;
}

static bool read_value(struct reading *reading) {
    switch (reading->kind) {
    case RECMAP_TYPE_BYTES: return read_items(reading, "[]", read_bytes, NULL);
    case RECMAP_TYPE_FLOAT: return read_items(reading, "[]", read_float, NULL);
    default: return read_items(reading, "[]", read_int64, NULL);
    }
}

static bool read_list(struct reading *reading, recmap_type kind) {
    static const struct json_field fields[] = {{"value", "value", 0, read_value},
                                               {NULL, NULL, 0, NULL}};
    if (reading->kind != RECMAP_TYPE_NONE)
        return refuse(reading, reading->reader.at, "a feature has one kind");
    reading->kind = kind;
    return read_message(reading, fields);
}

static bool read_bytes_list(struct reading *reading) {
    return read_list(reading, RECMAP_TYPE_BYTES);
}

static bool read_float_list(struct reading *reading) {
    return read_list(reading, RECMAP_TYPE_FLOAT);
}

static bool read_int64_list(struct reading *reading) {
    return read_list(reading, RECMAP_TYPE_INT64);
}

/* A feature, into the features, or as a step of the list that is open. */
static bool read_feature(struct reading *reading, void *context) {
    static const struct json_field fields[] = {{"bytesList", "bytes_list", 0, read_bytes_list},
                                               {"floatList", "float_list", 0, read_float_list},
                                               {"int64List", "int64_list", 0, read_int64_list},
                                               {NULL, NULL, 0, NULL}};
    (void)context;
    recmap_example_builder *builder = reading->builder;
    reading->kind = RECMAP_TYPE_NONE;
    builder->values.size = 0;
    if (!read_message(reading, fields)) return false;
    reading->status = builder_add_packed(builder, reading->name, reading->name_size,
                                         reading->origin, reading->kind, &builder->values,
                                         reading->error);
    if (reading->status == RECMAP_INVALID)
        fail_at(reading->error, NULL, RECMAP_NO_RECORD,
                (uint64_t)(reading->reader.at - reading->text));
    return reading->status == RECMAP_OK;
}

static bool read_steps(struct reading *reading) {
    return read_items(reading, "[]", read_feature, NULL);
}

static bool read_feature_list(struct reading *reading, void *context) {
    static const struct json_field fields[] = {{"feature", "feature", 0, read_steps},
                                               {NULL, NULL, 0, NULL}};
    (void)context;
    reading->status = builder_begin_list(reading->builder, reading->name, reading->name_size,
                                         reading->origin, reading->error);
    if (reading->status != RECMAP_OK) return false;
    bool is_read = read_message(reading, fields);
    recmap_example_builder_end_list(reading->builder);
    return is_read;
}

/* An entry of a map: its name, then what `context` reads. */
static bool read_entry(struct reading *reading, void *context) {
    const read_fn *read = context;
    struct json_string key = {0};
    json_peek(&reading->reader);
    reading->origin = (size_t)(reading->reader.at - reading->text);
    if (!read_string(&key, reading)) return false;
    if (!plain_text(&reading->name, &reading->name_size, &reading->builder->name, &key, reading))
        return false;
    if (!take(reading, ':') || !(*read)(reading, NULL)) return false;
    reading->name = NULL;
    return true;
}

static bool read_feature_map(struct reading *reading) {
    read_fn read = read_feature;
    return read_items(reading, "{}", read_entry, &read);
}

static bool read_list_map(struct reading *reading) {
    read_fn read = read_feature_list;
    return read_items(reading, "{}", read_entry, &read);
}

static bool read_features(struct reading *reading) {
    static const struct json_field fields[] = {{"feature", "feature", 0, read_feature_map},
                                               {NULL, NULL, 0, NULL}};
    reading->builder->features.is_there = true;
    return read_message(reading, fields);
}

static bool read_lists(struct reading *reading) {
    static const struct json_field fields[] = {{"featureList", "feature_list", 0, read_list_map},
                                               {NULL, NULL, 0, NULL}};
    reading->builder->lists.is_there = true;
    return read_message(reading, fields);
}

static bool read_record_number(struct reading *reading) {
    uint64_t number;
    const char *at = reading->reader.at;
    return json_read_uint64(&reading->reader, &number) ||
           refuse(reading, at, "a record number is expected");
}

static bool read_record_bytes(struct reading *reading) {
    struct message_writer *output = &reading->builder->output;
    output->size = 0;
    const char *at = reading->reader.at;
    if (!read_base64(output, 0, &output->size, reading)) return false;
    if (output->size > reading->builder->size_limit)
        return refuse(reading, at, "the record is too large");
    reading->is_base64 = true;
    return true;
}

static bool read_record(struct reading *reading) {
    static const struct json_field fields[] = {{"features", "features", 1, read_features},
                                               {"context", "context", 2, read_features},
                                               {"featureLists", "feature_lists", 2, read_lists},
                                               {"number", "number", 3, read_record_number},
                                               {"base64", "base64", 3, read_record_bytes},
                                               {NULL, NULL, 0, NULL}};
    struct json_message message = {.fields = fields};
    if (!read_items(reading, "{}", read_field, &message)) return false;
    if (!json_at_end(&reading->reader))
        return refuse(reading, reading->reader.at, "there is more behind the object");
    if (message.group == 3 && !reading->is_base64)
        return refuse(reading, reading->reader.at, "the record has no field 'base64'");
    return true;
}

/* A name that comes twice in one map. What was found of it is known when all is in order. */
static bool check_names(struct reading *reading) {
    const recmap_example_builder *builder = reading->builder;
    const struct entry_map *lists = &builder->lists;
    size_t origin = builder->features.repeated;
    for (size_t i = 0, count; !origin && i < lists->count; i += count) {
        count = entry_map_run(lists, i, builder->arena.data);
        if (count > 1) origin = lists->entries[i + 1].origin;
    }
    return !origin ||
           refuse(reading, reading->text + origin, "a feature of this name was there already");
}

recmap_status recmap_example_builder_read_json(const uint8_t **data, size_t *size,
                                               recmap_example_builder *builder, const char *text,
                                               size_t text_size, recmap_error *error) {
    if (!text) text = "";
    struct reading r = {
        .reader = {text, text + text_size}, .text = text, .builder = builder, .error = error};
    const uint8_t *made = NULL;
    size_t made_size = 0;
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    bool is_read = read_record(&r);
    if (is_read && r.is_base64) {
        made = builder->output.data;
        made_size = builder->output.size;
    } else if (is_read) {
        r.status = recmap_example_builder_finish(&made, &made_size, builder, error);
        if (r.status == RECMAP_OK) check_names(&r);
    }
    builder->message = 0;
    if (r.status != RECMAP_OK) return r.status;
    *data = made;
    *size = made_size;
    return RECMAP_OK;
}
