#include "dataset/annotate/field.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text/json_reader.h"
#include "base/text/rounding.h"
#include "base/words/character.h"

/* Skips digits, and returns whether there is one. */
static bool skip_digits(const char **next, const char *end) {
    const char *first = *next;
    while (*next < end && is_digit(**next)) ++*next;
    return *next > first;
}

static bool is_sign(char character) {
    return character == '+' || character == '-';
}

/* [+-] digits [. digits] [e [+-] digits], where one side of the point may be empty. */
static bool is_number(bool *is_integer, const char *next, const char *end) {
    if (next < end && is_sign(*next)) next++;
    bool has_digits = skip_digits(&next, end);
    *is_integer = has_digits && next == end;
    if (next < end && *next == '.') {
        next++;
        has_digits |= skip_digits(&next, end);
    }
    if (!has_digits) return false;
    if (next < end && (*next == 'e' || *next == 'E')) {
        next++;
        if (next < end && is_sign(*next)) next++;
        if (!skip_digits(&next, end)) return false;
    }
    return next == end;
}

/* nan, inf and infinity, in any case. False if the text is none of them. */
static bool read_special(double *number, const char *next, const char *end) {
    bool is_negative = next < end && *next == '-';
    if (next < end && is_sign(*next)) next++;
    size_t size = (size_t)(end - next);
    if (size == 3 && !strncasecmp(next, "nan", 3)) *number = NAN;
    else if ((size == 3 && !strncasecmp(next, "inf", 3)) ||
             (size == 8 && !strncasecmp(next, "infinity", 8)))
        *number = INFINITY;
    else return false;
    if (is_negative) *number = -*number;
    return true;
}

/* The field without a plus sign, which the number's reader does not know. */
static struct json_number number_of(const struct field *field) {
    const char *text = (const char *)field->data;
    bool has_plus = field->size && *text == '+';
    return (struct json_number){text + has_plus, field->size - has_plus};
}

static bool is_word(const struct field *field, const char *word) {
    return field->kind == FIELD_WORD && field->size == strlen(word) &&
           !strncasecmp((const char *)field->data, word, field->size);
}

bool field_is_missing_word(const struct field *field) {
    return is_word(field, "NA") || is_word(field, "null") || is_word(field, "None") ||
           is_word(field, "<NA>");
}

/* True and False, as Python and others write them in CSV. */
static bool read_bool(int64_t *number, const struct field *field) {
    *number = is_word(field, "true");
    return *number || is_word(field, "false");
}

static bool read_int64(int64_t *number, const struct field *field) {
    if (read_bool(number, field)) return true;
    struct json_number digits = number_of(field);
    return json_number_to_int64(number, &digits);
}

/* False for a finite number beyond the range of a double. */
static bool read_double(double *number, const struct field *field) {
    const char *text = (const char *)field->data;
    int64_t truth;
    if (read_special(number, text, text + field->size)) return true;
    if (read_bool(&truth, field)) {
        *number = (double)truth;
        return true;
    }
    struct json_number digits = number_of(field);
    *number = json_number_to_double(&digits);
    return isfinite(*number);
}

bool field_has_leading_zero(const struct field *field) {
    const char *text = (const char *)field->data;
    bool is_integer;
    if (field->kind != FIELD_WORD || field->size < 2) return false;
    if (text[0] != '0' || !is_digit(text[1])) return false;
    return is_number(&is_integer, text, text + field->size);
}

/* The type by the field's form alone. */
static recmap_type form_of(const struct field *field) {
    const char *text = (const char *)field->data;
    bool is_integer;
    double special;
    int64_t truth;
    if (field->kind == FIELD_MISSING || field_is_missing_word(field)) return RECMAP_TYPE_NONE;
    if (field->kind == FIELD_TEXT) return RECMAP_TYPE_BYTES;
    if (is_number(&is_integer, text, text + field->size))
        return is_integer ? RECMAP_TYPE_INT64 : RECMAP_TYPE_FLOAT;
    if (read_bool(&truth, field)) return RECMAP_TYPE_INT64;
    return read_special(&special, text, text + field->size) ? RECMAP_TYPE_FLOAT : RECMAP_TYPE_BYTES;
}

bool field_type(recmap_type *type, const struct field *field) {
    int64_t integer;
    double number;
    *type = form_of(field);
    if (field_has_leading_zero(field)) *type = RECMAP_TYPE_BYTES;
    if (*type == RECMAP_TYPE_INT64) return read_int64(&integer, field);
    return *type != RECMAP_TYPE_FLOAT || read_double(&number, field);
}

bool field_value(recmap_value *value, const struct field *field, recmap_type type) {
    bool is_text = type == RECMAP_TYPE_BYTES && field->kind != FIELD_MISSING;
    recmap_type form = is_text ? RECMAP_TYPE_BYTES : form_of(field);
    double number;
    *value = (recmap_value){.type = form == RECMAP_TYPE_NONE ? RECMAP_TYPE_NONE : type};
    if (form == RECMAP_TYPE_NONE) return true;
    switch (type) {
    case RECMAP_TYPE_INT64: return form == RECMAP_TYPE_INT64 && read_int64(&value->as.int64, field);
    case RECMAP_TYPE_FLOAT:
        if (form == RECMAP_TYPE_BYTES || !read_double(&number, field)) return false;
        value->as.float32 = (float)number;
        /* A finite number beyond float does not fit; an infinity as it is written does. */
        return isfinite(value->as.float32) || !isfinite(number);
    case RECMAP_TYPE_FLOAT64:
        return form != RECMAP_TYPE_BYTES && read_double(&value->as.float64, field);
    case RECMAP_TYPE_BYTES:
        value->as.bytes.data = field->data;
        value->as.bytes.size = field->size;
        return field->kind != FIELD_NUMBER;
    case RECMAP_TYPE_NONE: break;
    }
    return false;
}

bool field_fits_float(const struct field *field) {
    const char *text = (const char *)field->data;
    double special;
    int64_t truth;
    if (read_special(&special, text, text + field->size) || read_bool(&truth, field)) return true;
    struct json_number digits = number_of(field);
    return rounding_is_none_json(&digits);
}

bool field_is_rounded(int64_t *integer, const struct field *field) {
    return read_int64(integer, field) && rounding_is_far_double(*integer);
}

bool field_to_bits(int64_t *bits, const struct field *field) {
    struct json_number digits = number_of(field);
    return json_number_to_bits(bits, &digits);
}

bool field_is_integer(const struct field *field) {
    const char *text = (const char *)field->data;
    bool is_integer;
    return is_number(&is_integer, text, text + field->size) && is_integer;
}

bool field_is_plain_integer(const struct field *field) {
    const char *text = (const char *)field->data, *end = text + field->size;
    bool is_negative = text < end && *text == '-';
    const char *digits = text + is_negative;
    if (digits == end || (*digits == '0' && (is_negative || end - digits > 1))) return false;
    return skip_digits(&digits, end) && digits == end;
}

int field_shown_size(const struct field *field) {
    if (field->size <= FIELD_SHOWN_MAX) return (int)field->size;
    int size = FIELD_SHOWN_MAX;
    while (size && (field->data[size] & 0xc0) == 0x80) size--;
    return size;
}
