#include "parse/text/text_value.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text/fields.h"
#include "base/text/json_reader.h"
#include "base/text/plain_number.h"
#include "parse/plan/convert.h"

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct text_piece text_piece_trim(struct text_piece piece) {
    while (piece.size && is_space(*piece.data)) piece.data++, piece.size--;
    while (piece.size && is_space(piece.data[piece.size - 1])) piece.size--;
    return piece;
}

bool text_piece_unquote(struct text_piece *piece, struct reader_memory *memory) {
    if (!piece->has_quotes) return true;
    char *text = reader_memory_take(memory, piece->size);
    if (!text) return false;
    struct field_text field = {.data = piece->data, .size = piece->size, .has_quotes = true};
    size_t size = field_text_unquote(text, &field);
    reader_memory_return(memory, piece->size - size);
    *piece = (struct text_piece){.data = text, .size = size};
    return true;
}

/* The string of a JSON value, decoded. */
static enum text_verdict read_string(struct text_piece *text, const struct text_piece *piece,
                                     struct reader_memory *memory) {
    struct json_reader reader = {piece->data, piece->data + piece->size};
    struct json_string string;
    bool is_string = json_peek(&reader) == '"';
    if (!json_read_string(&string, &reader)) return is_string ? TEXT_BAD_STRING : TEXT_OTHER_TYPE;
    *text = (struct text_piece){.data = string.data, .size = string.size};
    if (!string.has_escapes) return TEXT_OK;
    char *decoded = reader_memory_take(memory, string.size);
    if (!decoded) return TEXT_NO_MEMORY;
    text->data = decoded;
    text->size = json_string_decode(decoded, string.size, &string);
    reader_memory_return(memory, string.size - text->size);
    return TEXT_OK;
}

static bool is_word(const struct text_piece *piece, const char *word) {
    return piece->size == strlen(word) && !strncasecmp(piece->data, word, piece->size);
}

static bool read_bool(int64_t *value, const struct text_piece *piece) {
    *value = is_word(piece, "true");
    return *value || is_word(piece, "false");
}

/* The first character after a minus. */
static char first_after_sign(const struct text_piece *piece) {
    size_t sign_size = *piece->data == '-';
    return piece->size > sign_size ? piece->data[sign_size] : 0;
}

/* Returns true if the JSON value is a number. -Infinity begins like one. */
static bool is_json_number(const struct text_piece *piece) {
    char first = first_after_sign(piece);
    return first >= '0' && first <= '9';
}

static bool is_integer_text(const struct text_piece *piece) {
    for (size_t i = *piece->data == '-' || *piece->data == '+'; i < piece->size; i++)
        if (piece->data[i] < '0' || piece->data[i] > '9') return false;
    return true;
}

static enum text_verdict fail_integer(const struct text_piece *piece) {
    return is_integer_text(piece) && piece->size > 1 ? TEXT_OUT_OF_RANGE : TEXT_OTHER_TYPE;
}

static enum text_verdict read_int64(int64_t *value, const struct text_piece *piece, bool is_json) {
    if (!piece->size) return TEXT_OTHER_TYPE;
    if (plain_int64(value, piece->data, piece->size)) return TEXT_OK;
    if (is_json && is_json_number(piece)) {
        struct json_number number = {piece->data, piece->size};
        if (json_number_to_int64(value, &number)) return TEXT_OK;
    }
    return fail_integer(piece);
}

static enum text_verdict put_uint64(void *element, const struct text_piece *piece, bool is_json) {
    uint64_t value;
    if (!piece->size) return TEXT_OTHER_TYPE;
    bool is_read = plain_uint64(&value, piece->data, piece->size);
    if (!is_read && is_json && is_json_number(piece)) {
        struct json_number number = {piece->data, piece->size};
        is_read = json_number_to_uint64(&value, &number);
    }
    if (!is_read) return fail_integer(piece);
    memcpy(element, &value, sizeof value);
    return TEXT_OK;
}

/* Of JSON, strings, true and false are not numbers, although their text may read like one. */
static bool is_number_text(const struct text_piece *piece, bool is_json) {
    if (!piece->size) return false;
    char first = first_after_sign(piece);
    return !is_json || is_json_number(piece) || first == 'N' || first == 'I';
}

/* JSON has values of its own for this type, so numbers are refused; CSV has none. */
static enum text_verdict put_bool(void *element, const struct text_piece *piece, bool is_json) {
    int64_t value = 0;
    enum text_verdict verdict = TEXT_OK;
    if (!read_bool(&value, piece))
        verdict = is_json ? TEXT_OTHER_TYPE : read_int64(&value, piece, is_json);
    if (verdict != TEXT_OK) return verdict;
    return convert_int64(element, RECMAP_ELEMENT_BOOL, &value, 1) == 1 ? TEXT_OK
                                                                       : TEXT_OUT_OF_RANGE;
}

static enum text_verdict put_int64(void *element, recmap_element kind,
                                   const struct text_piece *piece, bool is_json) {
    int64_t value;
    if (kind == RECMAP_ELEMENT_UINT64) return put_uint64(element, piece, is_json);
    if (kind == RECMAP_ELEMENT_BOOL) return put_bool(element, piece, is_json);
    enum text_verdict verdict = read_int64(&value, piece, is_json);
    if (verdict != TEXT_OK) return verdict;
    if (kind == RECMAP_ELEMENT_INT64) {
        memcpy(element, &value, sizeof value);
        return TEXT_OK;
    }
    return convert_int64(element, kind, &value, 1) == 1 ? TEXT_OK : TEXT_OUT_OF_RANGE;
}

/* Returns true if the text is an infinity, and not a number that is too large. */
static bool is_infinity(const struct text_piece *piece) {
    char last = piece->data[piece->size - 1];
    return last != '.' && (last < '0' || last > '9');
}

static enum text_verdict put_float(void *element, recmap_element kind,
                                   const struct text_piece *piece, bool is_json) {
    float value;
    double wide;
    bool is_wide = kind == RECMAP_ELEMENT_FLOAT64;
    if (!is_number_text(piece, is_json)) return TEXT_OTHER_TYPE;
    if (is_wide ? !plain_double(&wide, piece->data, piece->size)
                : !plain_float(&value, piece->data, piece->size))
        return TEXT_OTHER_TYPE;
    if ((is_wide ? isinf(wide) : isinf(value)) && !is_infinity(piece)) return TEXT_OUT_OF_RANGE;
    if (is_wide) memcpy(element, &wide, sizeof wide);
    else if (kind == RECMAP_ELEMENT_FLOAT32) memcpy(element, &value, sizeof value);
    else if (convert_float(element, kind, &value, 1) != 1) return TEXT_OUT_OF_RANGE;
    return TEXT_OK;
}

static enum text_verdict put_bytes(recmap_bytes *view, const struct text_piece *piece, bool is_json,
                                   struct reader_memory *memory) {
    static const uint8_t nothing[1];
    struct text_piece text = *piece;
    enum text_verdict verdict = TEXT_OK;
    if (is_json) verdict = read_string(&text, piece, memory);
    else if (!text_piece_unquote(&text, memory)) verdict = TEXT_NO_MEMORY;
    if (verdict != TEXT_OK) return verdict;
    if (text.size > INT32_MAX) return TEXT_OUT_OF_RANGE;
    *view = (recmap_bytes){text.size ? (const uint8_t *)text.data : nothing, text.size};
    return TEXT_OK;
}

enum text_verdict text_value_put(void *element, recmap_element kind, const struct text_piece *piece,
                                 bool is_json, struct reader_memory *memory) {
    recmap_type list = convert_list_of(kind);
    if (list == RECMAP_TYPE_BYTES) return put_bytes(element, piece, is_json, memory);
    struct text_piece number = text_piece_trim(*piece);
    return list == RECMAP_TYPE_FLOAT ? put_float(element, kind, &number, is_json)
                                     : put_int64(element, kind, &number, is_json);
}

/* Texts of rows have no types. An integer beyond int64 is a text rather than a rounded number. */
static recmap_type type_of(const struct text_piece *piece, bool is_json) {
    struct text_piece text = text_piece_trim(*piece);
    int64_t integer;
    double number;
    if (is_json && *piece->data == '"') return RECMAP_TYPE_BYTES;
    if (read_bool(&integer, &text) || read_int64(&integer, &text, false) == TEXT_OK)
        return RECMAP_TYPE_INT64;
    if (text.size && !is_integer_text(&text) && plain_double(&number, text.data, text.size))
        return RECMAP_TYPE_FLOAT64;
    return RECMAP_TYPE_BYTES;
}

enum text_verdict text_value_read(recmap_value *value, recmap_type type,
                                  const struct text_piece *piece, bool is_json,
                                  struct reader_memory *memory) {
    recmap_bytes bytes;
    value->type = RECMAP_TYPE_NONE;
    if (!piece->data) return TEXT_OK;
    if (type == RECMAP_TYPE_NONE) type = type_of(piece, is_json);
    value->type = type;
    switch (type) {
    case RECMAP_TYPE_INT64: {
        struct text_piece text = text_piece_trim(*piece);
        if (read_bool(&value->as.int64, &text)) return TEXT_OK;
        return text_value_put(&value->as.int64, RECMAP_ELEMENT_INT64, piece, is_json, memory);
    }
    case RECMAP_TYPE_FLOAT:
        return text_value_put(&value->as.float32, RECMAP_ELEMENT_FLOAT32, piece, is_json, memory);
    case RECMAP_TYPE_FLOAT64:
        return text_value_put(&value->as.float64, RECMAP_ELEMENT_FLOAT64, piece, is_json, memory);
    default: break;
    }
    enum text_verdict verdict = put_bytes(&bytes, piece, is_json, memory);
    if (verdict != TEXT_OK) return verdict;
    value->as.bytes.data = bytes.data;
    value->as.bytes.size = bytes.size;
    return TEXT_OK;
}
