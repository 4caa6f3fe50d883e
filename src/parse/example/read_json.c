/* Reads protobuf's JSON mapping of tf.Example and tf.SequenceExample into a builder. Messages are
 * described by tables of their fields. Nesting is limited by the depth of these tables. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/text/base64.h"
#include "base/text/json_reader.h"
#include "base/text/rounding.h"
#include "base/words/character.h"
#include "parse/example/building.h"

struct json_input {
    struct json_reader reader;
    const char *text;
    recmap_example_builder *builder;
    recmap_error *error;
    recmap_status status;
    const char *name; /* of the current feature or list; NULL outside of them */
    size_t name_size;
    size_t origin;    /* its offset in the text */
    recmap_type kind; /* of the current feature */
    bool is_base64;   /* the record was given as base64 */
};

static bool refuse(struct json_input *input, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error with a byte offset in the text. Returns false. */
static bool refuse(struct json_input *input, const char *place, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    input->status = RECMAP_INVALID;
    int shown = input->name_size < 200 ? (int)input->name_size : 200;
    if (input->name)
        fail(input->error, RECMAP_INVALID, "feature '%.*s': %s", shown, input->name, text);
    else fail(input->error, RECMAP_INVALID, "%s", text);
    fail_at(input->error, NULL, RECMAP_NO_RECORD, (uint64_t)(place - input->text));
    return false;
}

/* The most of a number that a message shows. */
enum { SHOWN_MAX = 64 };

static int shown_size(const struct json_number *number) {
    return number->size < SHOWN_MAX ? (int)number->size : SHOWN_MAX;
}

static bool run_out(struct json_input *input) {
    input->status = fail_memory(input->error);
    return false;
}

static bool take(struct json_input *input, char wanted) {
    return json_take(&input->reader, wanted) ||
           refuse(input, input->reader.at, "expected '%c'", wanted);
}

static bool read_string(struct json_string *string, struct json_input *input) {
    if (json_peek(&input->reader) != '"')
        return refuse(input, input->reader.at, "expected a string");
    return json_read_string(string, &input->reader) ||
           refuse(input, input->reader.at, "the string is incomplete or not UTF-8");
}

/* Returns a string's contents without escapes, using `room` if there are any. */
static bool plain_text(const char **text, size_t *size, struct message_writer *room,
                       const struct json_string *string, struct json_input *input) {
    *text = string->data;
    *size = string->size;
    if (!string->has_escapes) return true;
    room->size = 0;
    if (!message_reserve(room, string->size)) return run_out(input);
    *text = (const char *)room->data;
    *size = json_string_decode((char *)room->data, string->size, string);
    return true;
}

/* Reads an object or an array and calls `read` for each item. */
typedef bool (*read_item_fn)(struct json_input *r, void *context);

static bool read_items(struct json_input *input, const char brackets[2], read_item_fn read,
                       void *context) {
    if (!take(input, brackets[0])) return false;
    if (json_take(&input->reader, brackets[1])) return true;
    do
        if (!read(input, context)) return false;
    while (json_take(&input->reader, ','));
    return json_take(&input->reader, brackets[1]) ||
           refuse(input, input->reader.at, "expected ',' or '%c'", brackets[1]);
}

/* A field of a message, with both spellings of its name. */
struct json_field {
    const char *name;
    const char *other;
    int group; /* fields of different groups exclude each other */
    bool (*read)(struct json_input *input);
};

/* A message: its fields, ending with a row of zeros, and which of them were present. */
struct json_message {
    const struct json_field *fields;
    unsigned seen; /* one bit per field */
    int group;
};

/* Finds the field in the message's table and checks that it is neither repeated nor mixed with
 * fields of another message, then calls its reader. */
static bool read_field(struct json_input *input, void *context) {
    struct json_message *message = context;
    struct json_string key = {0};
    json_peek(&input->reader);
    const char *start = input->reader.at;
    if (!read_string(&key, input)) return false;
    unsigned i = 0;
    const struct json_field *field = message->fields;
    while (field->name && !json_string_is(&key, field->name) && !json_string_is(&key, field->other))
        i++, field++;
    int shown = key.size < 64 ? (int)key.size : 64;
    if (!field->name) return refuse(input, start, "unknown field '%.*s'", shown, key.data);
    if (message->seen >> i & 1) return refuse(input, start, "duplicate field '%s'", field->name);
    if (message->seen && message->group != field->group)
        return refuse(input, start, "field '%s' belongs to another message", field->name);
    message->seen |= 1u << i;
    message->group = field->group;
    if (!take(input, ':')) return false;
    /* In protobuf's JSON, null means that the field is absent. */
    if (json_take_word(&input->reader, "null")) return true;
    return field->read(input);
}

static bool read_message(struct json_input *input, const struct json_field *fields) {
    struct json_message message = {.fields = fields};
    return read_items(input, "{}", read_field, &message);
}

/* Reads a number, or the contents of a string in its place: a number as well, or a name such as
 * NaN. */
static bool read_number(struct json_number *number, bool *is_quoted, struct json_input *input) {
    struct json_string string = {0};
    char first = json_peek(&input->reader);
    const char *start = input->reader.at;
    *is_quoted = first == '"';
    if (!*is_quoted)
        return json_read_number(number, &input->reader) ||
               refuse(input, start, "expected a number");
    return read_string(&string, input) &&
           plain_text(&number->data, &number->size, &input->builder->plain, &string, input);
}

static bool is_number(const struct json_number *number) {
    struct json_reader inside = {number->data, number->data + number->size};
    struct json_number found;
    return json_read_number(&found, &inside) && found.size == number->size;
}

/* Refuses a number that is not an int64. Unsigned integers of 64 bits can be stored as the int64
 * with the same bits. */
static bool refuse_int64(struct json_input *input, const char *place,
                         const struct json_number *number) {
    int64_t bits;
    size_t first = number->size && *number->data == '-', i = first;
    while (i < number->size && is_digit(number->data[i])) i++;
    if (i < number->size || i == first)
        return refuse(input, place, "the number is not a 64-bit integer");
    refuse(input, place, "%.*s is beyond int64 (-2^63 to 2^63 - 1)", shown_size(number),
           number->data);
    if (json_number_to_bits(&bits, number))
        fail_advise(input->error,
                    "write it as a text in bytesList, or as %" PRId64
                    ", the int64 with the same bits",
                    bits);
    else fail_advise(input->error, "write it as a text in bytesList");
    return false;
}

static bool read_int64(struct json_input *input, void *context) {
    (void)context;
    struct message_writer *values = &input->builder->values;
    struct json_number number;
    bool is_quoted;
    int64_t value;
    json_peek(&input->reader);
    const char *start = input->reader.at;
    if (!read_number(&number, &is_quoted, input)) return false;
    if (is_quoted && !is_number(&number)) return refuse(input, start, "the string is not a number");
    if (!json_number_to_int64(&value, &number)) return refuse_int64(input, start, &number);
    if (!message_reserve(values, 10)) return run_out(input);
    message_put_varint(values, (uint64_t)value);
    return true;
}

/* Floats that JSON numbers cannot represent. */
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

/* Returns true if rounding of the current feature was reported before. */
static bool is_reported(const struct json_input *input) {
    const struct message_writer *names = &input->builder->rounded_names;
    for (size_t at = 0; at < names->size;) {
        size_t size = load32(names->data + at);
        at += 4;
        if (size == input->name_size && !memcmp(names->data + at, input->name, size)) return true;
        at += size;
    }
    return false;
}

/* Keeps a warning about a number that a float does not hold closely: the first one of its feature,
 * if no other feature of the record has one. Returns false if memory runs out. */
static bool note_rounding(struct json_input *input, const char *place,
                          const struct json_number *number, float rounded) {
    enum { NAMES_SIZE_MAX = 1 << 16 }; /* it is searched from its start */
    recmap_example_builder *builder = input->builder;
    struct message_writer *names = &builder->rounded_names;
    if (builder->has_warning || names->size > NAMES_SIZE_MAX || is_reported(input)) return true;
    if (!message_reserve(names, 4 + input->name_size)) return run_out(input);
    store32(names->data + names->size, (uint32_t)input->name_size);
    names->size += 4;
    message_put_bytes(names, input->name, input->name_size);
    builder->has_warning = true;
    fail(&builder->warning, RECMAP_FEATURE,
         "feature '%.*s': %.*s is rounded to %.0f, because floats have 32 bits",
         input->name_size < 200 ? (int)input->name_size : 200, input->name, shown_size(number),
         number->data, (double)rounded);
    fail_at(&builder->warning, NULL, RECMAP_NO_RECORD, (uint64_t)(place - input->text));
    fail_advise(&builder->warning,
                "write integers in int64List (of a time, milliseconds), or a text in bytesList");
    return true;
}

/* Appends a number of a FloatList: a JSON number, one in quotes, or a name such as "NaN". */
static bool read_float(struct json_input *input, void *context) {
    (void)context;
    struct message_writer *values = &input->builder->values;
    struct json_number number;
    bool is_quoted;
    uint32_t bits;
    json_peek(&input->reader);
    const char *start = input->reader.at;
    if (!read_number(&number, &is_quoted, input)) return false;
    if (!is_quoted || !find_named_float(&bits, &number)) {
        if (is_quoted && !is_number(&number))
            return refuse(input, start, "the string is not a number");
        double value = json_number_to_double(&number);
        /* Halfway between the largest float and the next power of two: from here on, rounding to
         * float overflows. */
        if (fabs(value) >= 0x1.ffffffp127)
            return refuse(input, start, "the number is too large for a float");
        float rounded = (float)value;
        bool is_far = rounding_is_far_json(&number) && !rounding_is_shortest(&number, rounded);
        if (is_far && !note_rounding(input, start, &number, rounded)) return false;
        memcpy(&bits, &rounded, sizeof bits);
    }
    if (!message_reserve(values, 4)) return run_out(input);
    store32(values->data + values->size, bits);
    values->size += 4;
    return true;
}

/* Decodes a base64 string to the end of `writer`, leaving `prefix_size` bytes for a prefix. */
static bool read_base64(struct message_writer *writer, size_t prefix_size, size_t *size,
                        struct json_input *input) {
    struct json_string string = {0};
    const char *text;
    size_t text_size, fault;
    if (!read_string(&string, input)) return false;
    if (!plain_text(&text, &text_size, &input->builder->plain, &string, input)) return false;
    if (!message_reserve(writer, prefix_size + base64_capacity(text_size))) return run_out(input);
    *size = base64_decode(writer->data + writer->size + prefix_size, &fault, text, text_size);
    if (*size != SIZE_MAX) return true;
    return refuse(input, string.data + (string.has_escapes ? 0 : fault), "invalid base64");
}

/* The size of the prefix is known only after decoding, so the bytes are decoded past the longest
 * possible prefix and then moved. */
static bool read_bytes(struct json_input *input, void *context) {
    (void)context;
    enum { PREFIX_MAX = 11 };
    struct message_writer *values = &input->builder->values;
    size_t size;
    if (!read_base64(values, PREFIX_MAX, &size, input)) return false;
    const uint8_t *decoded = values->data + values->size + PREFIX_MAX;
    message_put_prefix(values, 1 << 3 | 2, size);
    if (size) memmove(values->data + values->size, decoded, size);
    values->size += size;
    return true;
}

static bool read_value(struct json_input *input) {
    switch (input->kind) {
    case RECMAP_TYPE_BYTES: return read_items(input, "[]", read_bytes, NULL);
    case RECMAP_TYPE_FLOAT: return read_items(input, "[]", read_float, NULL);
    default: return read_items(input, "[]", read_int64, NULL);
    }
}

static bool read_list(struct json_input *input, recmap_type kind) {
    static const struct json_field fields[] = {{"value", "value", 0, read_value},
                                               {NULL, NULL, 0, NULL}};
    if (input->kind != RECMAP_TYPE_NONE)
        return refuse(input, input->reader.at, "a feature can have only one kind");
    input->kind = kind;
    return read_message(input, fields);
}

static bool read_bytes_list(struct json_input *input) {
    return read_list(input, RECMAP_TYPE_BYTES);
}

static bool read_float_list(struct json_input *input) {
    return read_list(input, RECMAP_TYPE_FLOAT);
}

static bool read_int64_list(struct json_input *input) {
    return read_list(input, RECMAP_TYPE_INT64);
}

/* Reads a feature into the feature map, or as a step of the open list. */
static bool read_feature(struct json_input *input, void *context) {
    static const struct json_field fields[] = {{"bytesList", "bytes_list", 0, read_bytes_list},
                                               {"floatList", "float_list", 0, read_float_list},
                                               {"int64List", "int64_list", 0, read_int64_list},
                                               {NULL, NULL, 0, NULL}};
    (void)context;
    recmap_example_builder *builder = input->builder;
    input->kind = RECMAP_TYPE_NONE;
    builder->values.size = 0;
    if (!read_message(input, fields)) return false;
    input->status = builder_add_packed(builder, input->name, input->name_size, input->origin,
                                       input->kind, &builder->values, input->error);
    if (input->status == RECMAP_INVALID)
        fail_at(input->error, NULL, RECMAP_NO_RECORD, (uint64_t)(input->reader.at - input->text));
    return input->status == RECMAP_OK;
}

static bool read_steps(struct json_input *input) {
    return read_items(input, "[]", read_feature, NULL);
}

static bool read_feature_list(struct json_input *input, void *context) {
    static const struct json_field fields[] = {{"feature", "feature", 0, read_steps},
                                               {NULL, NULL, 0, NULL}};
    (void)context;
    input->status = builder_begin_list(input->builder, input->name, input->name_size, input->origin,
                                       input->error);
    if (input->status != RECMAP_OK) return false;
    bool is_read = read_message(input, fields);
    recmap_example_builder_end_list(input->builder);
    return is_read;
}

/* Reads an entry of a map: its name, then its value with `context`. */
static bool read_entry(struct json_input *input, void *context) {
    const read_item_fn *read = context;
    struct json_string key = {0};
    json_peek(&input->reader);
    input->origin = (size_t)(input->reader.at - input->text);
    if (!read_string(&key, input)) return false;
    if (!plain_text(&input->name, &input->name_size, &input->builder->name, &key, input))
        return false;
    if (!take(input, ':') || !(*read)(input, NULL)) return false;
    input->name = NULL;
    return true;
}

static bool read_feature_map(struct json_input *input) {
    read_item_fn read = read_feature;
    return read_items(input, "{}", read_entry, &read);
}

static bool read_list_map(struct json_input *input) {
    read_item_fn read = read_feature_list;
    return read_items(input, "{}", read_entry, &read);
}

static bool read_features(struct json_input *input) {
    static const struct json_field fields[] = {{"feature", "feature", 0, read_feature_map},
                                               {NULL, NULL, 0, NULL}};
    input->builder->features.is_there = true;
    return read_message(input, fields);
}

static bool read_lists(struct json_input *input) {
    static const struct json_field fields[] = {{"featureList", "feature_list", 0, read_list_map},
                                               {NULL, NULL, 0, NULL}};
    input->builder->lists.is_there = true;
    return read_message(input, fields);
}

static bool read_record_number(struct json_input *input) {
    uint64_t number;
    const char *start = input->reader.at;
    return json_read_uint64(&input->reader, &number) ||
           refuse(input, start, "expected a record number");
}

static bool read_record_bytes(struct json_input *input) {
    struct message_writer *output = &input->builder->output;
    output->size = 0;
    const char *start = input->reader.at;
    if (!read_base64(output, 0, &output->size, input)) return false;
    if (output->size > input->builder->size_limit)
        return refuse(input, start, "the record is too large");
    input->is_base64 = true;
    return true;
}

static bool read_record(struct json_input *input) {
    static const struct json_field fields[] = {{"features", "features", 1, read_features},
                                               {"context", "context", 2, read_features},
                                               {"featureLists", "feature_lists", 2, read_lists},
                                               {"number", "number", 3, read_record_number},
                                               {"base64", "base64", 3, read_record_bytes},
                                               {NULL, NULL, 0, NULL}};
    struct json_message message = {.fields = fields};
    if (!read_items(input, "{}", read_field, &message)) return false;
    if (!json_at_end(&input->reader))
        return refuse(input, input->reader.at, "unexpected text after the object");
    if (message.group == 3 && !input->is_base64)
        return refuse(input, input->reader.at, "the record has no field 'base64'");
    return true;
}

/* Reports a name that occurs twice in one map. Repeated names are found only after sorting. */
static bool check_names(struct json_input *input) {
    const recmap_example_builder *builder = input->builder;
    const struct entry_map *lists = &builder->lists;
    size_t origin = builder->features.repeated;
    for (size_t i = 0, count; !origin && i < lists->count; i += count) {
        count = entry_map_run(lists, i, builder->arena.data);
        if (count > 1) origin = lists->entries[i + 1].origin;
    }
    return !origin || refuse(input, input->text + origin, "duplicate feature name");
}

/* The message's fields decide what the record is: an Example, a SequenceExample, or bytes in
 * base64, which are not built but passed through. */
recmap_status recmap_example_builder_read_json(const uint8_t **data, size_t *size,
                                               recmap_example_builder *builder, const char *text,
                                               size_t text_size, recmap_error *error) {
    if (!text) text = "";
    struct json_input r = {
        .reader = {text, text + text_size}, .text = text, .builder = builder, .error = error};
    const uint8_t *record = NULL;
    size_t record_size = 0;
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    builder->has_warning = false;
    bool is_read = read_record(&r);
    if (is_read && r.is_base64) {
        record = builder->output.data;
        record_size = builder->output.size;
    } else if (is_read) {
        r.status = recmap_example_builder_finish(&record, &record_size, builder, error);
        if (r.status == RECMAP_OK) check_names(&r);
    }
    builder->message = 0;
    if (r.status != RECMAP_OK) return r.status;
    *data = record;
    *size = record_size;
    return RECMAP_OK;
}

const recmap_error *recmap_example_builder_warning(const recmap_example_builder *builder) {
    return builder->has_warning ? &builder->warning : NULL;
}
