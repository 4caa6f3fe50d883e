#include "parse/message/field_default.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "descriptor.pb-c.h"

static recmap_status fail_text(const struct field_def *field, const char *text, const char *owner,
                               recmap_error *error) {
    return fail(error, RECMAP_INVALID, "'%.200s' cannot be the default of '%.200s' in '%.200s'",
                text, field->name, owner);
}

/* Numbers in descriptors have no spaces and no locale's decimal point; strtod would accept both in
 * some locales, but a descriptor that has them was not written by protoc. */
static bool read_double(double *value, const char *text) {
    char *end;
    if (!strcmp(text, "inf")) *value = INFINITY;
    else if (!strcmp(text, "-inf")) *value = -INFINITY;
    else if (!strcmp(text, "nan")) *value = NAN;
    else {
        *value = strtod(text, &end);
        return end != text && !*end;
    }
    return true;
}

static bool set_float(struct field_def *field, const char *text) {
    double value;
    if (!read_double(&value, text)) return false;
    if (field->type == FIELD_DOUBLE) {
        memcpy(&field->default_bits, &value, sizeof value);
        return true;
    }
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    field->default_bits = bits;
    return true;
}

static bool set_integer(struct field_def *field, const char *text) {
    char *end;
    bool is_unsigned = field->type == FIELD_UINT64 || field->type == FIELD_FIXED64;
    errno = 0;
    field->default_bits = is_unsigned ? strtoull(text, &end, 10)
                                      : (uint64_t)strtoll(text, &end, 10);
    if (field->type == FIELD_SINT32 || field->type == FIELD_SINT64)
        field->default_bits = field->default_bits << 1 ^ (0 - (field->default_bits >> 63));
    return end != text && !*end && !errno;
}

static bool set_enum(struct field_def *field, const char *text) {
    const Recmap__Descriptor__Enum *source = field->enumeration->source;
    for (size_t i = 0; i < source->n_value; i++) {
        if (!source->value[i]->name || strcmp(source->value[i]->name, text)) continue;
        field->default_bits = (uint64_t)(int64_t)source->value[i]->number;
        return true;
    }
    return false;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Reads up to `count` digits. */
static uint8_t read_digits(const char **text, int base, int count) {
    int value = 0;
    for (; count > 0 && digit_of(**text) < base; count--)
        value = value * base + digit_of(*(*text)++);
    return (uint8_t)value;
}

/* Reads what follows a backslash, as protoc writes it. */
static uint8_t read_escape(const char **text) {
    static const char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
    char c = **text;
    const char *letter = c ? strchr(letters, c) : NULL;
    if (c >= '0' && c <= '7') return read_digits(text, 8, 3);
    if (c) ++*text;
    if (c == 'x' || c == 'X') return read_digits(text, 16, 2);
    return (uint8_t)(letter ? meanings[letter - letters] : c);
}

/* The default of a string is its text; the default of bytes has escapes, as in C. */
static recmap_status set_bytes(struct field_def *field, const char *text, recmap_error *error) {
    uint8_t *bytes = malloc(strlen(text) + 1);
    if (!bytes) return fail_memory(error);
    size_t size = 0;
    while (*text) {
        uint8_t byte = (uint8_t)*text++;
        bytes[size++] = byte == '\\' && field->type == FIELD_BYTES ? read_escape(&text) : byte;
    }
    field->default_bytes = bytes;
    field->default_size = size;
    return RECMAP_OK;
}

/* Without a default, an enum is its first value. */
static void set_first(struct field_def *field) {
    const Recmap__Descriptor__Enum *source = field->enumeration->source;
    if (source->n_value) field->default_bits = (uint64_t)(int64_t)source->value[0]->number;
}

recmap_status field_default_set(struct field_def *field, const char *text, const char *owner,
                                recmap_error *error) {
    bool is_good = true;
    if (field_is_message(field) || field->is_repeated) return RECMAP_OK;
    if (!text) {
        if (field->type == FIELD_ENUM) set_first(field);
        return RECMAP_OK;
    }
    switch (field->type) {
    case FIELD_DOUBLE:
    case FIELD_FLOAT: is_good = set_float(field, text); break;
    case FIELD_BOOL:
        field->default_bits = !strcmp(text, "true");
        is_good = field->default_bits || !strcmp(text, "false");
        break;
    case FIELD_STRING:
    case FIELD_BYTES: return set_bytes(field, text, error);
    case FIELD_ENUM: is_good = set_enum(field, text); break;
    default: is_good = set_integer(field, text); break;
    }
    return is_good ? RECMAP_OK : fail_text(field, text, owner, error);
}

void field_default_unset(struct field_def *field) {
    free((void *)(uintptr_t)field->default_bytes);
}
