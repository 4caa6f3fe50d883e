#include "base/text/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/words/character.h"
#include "base/words/printable.h"

void recmap_text_deinit(recmap_text *text) {
    if (!text) return;
    free(text->data);
    *text = (recmap_text)RECMAP_TEXT_INIT;
}

static bool text_reserve(recmap_text *text, size_t size) {
    if (size > SIZE_MAX - text->size - 1) return false;
    return array_reserve(&text->data, &text->capacity, text->size + size + 1, 1);
}

bool text_append(recmap_text *text, const char *data, size_t size) {
    if (!text_reserve(text, size)) return false;
    if (size) memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
    return true;
}

struct json_writer json_begin(recmap_text *text) {
    return (struct json_writer){.text = text, .start = text->size};
}

void json_restart(struct json_writer *json) {
    recmap_text *text = json->text;
    assert(text->size >= json->start);
    text->size = json->start;
    if (text->data) text->data[text->size] = 0;
    *json = json_begin(text);
}

recmap_status json_end(struct json_writer *json, recmap_error *error) {
    if (!json->failed) return RECMAP_OK;
    json_restart(json);
    return fail_memory(error);
}

static void put(struct json_writer *json, const char *data, size_t size) {
    if (!json->failed && !text_append(json->text, data, size)) json->failed = true;
}

static void put_text(struct json_writer *json, const char *text) {
    put(json, text, strlen(text));
}

static void separate(struct json_writer *json) {
    if (json->needs_comma) put(json, ",", 1);
    json->needs_comma = true;
}

static void scalar(struct json_writer *json, const char *text) {
    separate(json);
    put_text(json, text);
}

void json_open(struct json_writer *json, char bracket) {
    assert(bracket == '{' || bracket == '[');
    separate(json);
    put(json, &bracket, 1);
    json->needs_comma = false;
}

void json_close(struct json_writer *json, char bracket) {
    assert(bracket == '}' || bracket == ']');
    put(json, &bracket, 1);
    json->needs_comma = true;
}

bool utf8_valid(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size;) {
        /* Names are usually ASCII: check eight bytes at a time. */
        while (size - i >= 8 && !(load64(data + i) & 0x8080808080808080u)) i += 8;
        if (i == size) break;
        size_t length = utf8_length(data + i, size - i);
        if (!length) return false;
        i += length;
    }
    return true;
}

/* A character above U+FFFF is written as a pair of surrogates. */
static void put_code(struct json_writer *json, uint32_t character) {
    char escape[16];
    uint32_t above = character - 0x10000;
    if (character > 0xffff)
        snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + (unsigned)(above >> 10),
                 0xdc00 + (unsigned)(above & 0x3ff));
    else snprintf(escape, sizeof escape, "\\u%04x", (unsigned)character);
    put_text(json, escape);
}

static void put_escaped(struct json_writer *json, uint32_t character) {
    switch (character) {
    case '"': put_text(json, "\\\""); return;
    case '\\': put_text(json, "\\\\"); return;
    case '\n': put_text(json, "\\n"); return;
    case '\r': put_text(json, "\\r"); return;
    case '\t': put_text(json, "\\t"); return;
    case '\b': put_text(json, "\\b"); return;
    case '\f': put_text(json, "\\f"); return;
    default: put_code(json, character);
    }
}

static bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Python's os.fsdecode makes these surrogates of bytes that are not UTF-8. */
static void put_surrogate(struct json_writer *json, uint8_t byte) {
    char escape[8];
    snprintf(escape, sizeof escape, "\\udc%02x", byte);
    put(json, escape, 6);
}

/* Writes runs of plain characters as they are, and looks at all others one by one: escapes for
 * control characters, and for bytes that are not UTF-8 a substitute, so that the text is JSON. */
static void put_string(struct json_writer *json, const uint8_t *data, size_t size, bool is_path) {
    put(json, "\"", 1);
    for (size_t i = 0; i < size;) {
        size_t run = 0;
        while (i + run < size && is_plain(data[i + run])) run++;
        if (run) {
            put(json, (const char *)data + i, run);
            i += run;
            continue;
        }
        uint32_t character;
        size_t length = utf8_length(data + i, size - i);
        bool is_escaped = length > 1 && text_unprintable(&character, data + i, length);
        if (is_escaped) put_escaped(json, character);
        else if (length > 1) put(json, (const char *)data + i, length);
        else if (length == 1) put_escaped(json, data[i]);
        else if (is_path) put_surrogate(json, data[i]);
        else put_text(json, "\xef\xbf\xbd");
        i += length ? length : 1;
    }
    put(json, "\"", 1);
}

void json_key_sized(struct json_writer *json, const void *key, size_t size) {
    separate(json);
    put_string(json, key, size, false);
    put(json, ":", 1);
    json->needs_comma = false;
}

void json_key(struct json_writer *json, const char *key) {
    json_key_sized(json, key, strlen(key));
}

void json_text_sized(struct json_writer *json, const void *value, size_t size) {
    separate(json);
    put_string(json, value, size, false);
}

void json_text(struct json_writer *json, const char *value) {
    json_text_sized(json, value, strlen(value));
}

void json_path(struct json_writer *json, const char *path) {
    separate(json);
    put_string(json, (const uint8_t *)path, strlen(path), true);
}

/* Writes the four characters that encode up to three bytes. */
static void encode_three(char *four, const uint8_t *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t group = (uint32_t)bytes[0] << 16;
    if (size > 1) group |= (uint32_t)bytes[1] << 8;
    if (size > 2) group |= bytes[2];
    four[0] = digits[group >> 18];
    four[1] = digits[group >> 12 & 63];
    four[2] = size > 1 ? digits[group >> 6 & 63] : '=';
    four[3] = size > 2 ? digits[group & 63] : '=';
}

void json_base64(struct json_writer *json, const void *data, size_t size) {
    const uint8_t *bytes = data;
    separate(json);
    put(json, "\"", 1);
    if (json->failed || size > SIZE_MAX / 2 || !text_reserve(json->text, size / 3 * 4 + 8)) {
        json->failed = true;
        return;
    }
    for (size_t i = 0; i < size; i += 3) {
        encode_three(json->text->data + json->text->size, bytes + i, size - i < 3 ? size - i : 3);
        json->text->size += 4;
    }
    put(json, "\"", 1);
}

void json_uint64(struct json_writer *json, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    scalar(json, text);
}

void json_int64(struct json_writer *json, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    scalar(json, text);
}

void json_int64_string(struct json_writer *json, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "\"%" PRId64 "\"", value);
    scalar(json, text);
}

/* Writes the shortest decimal of `min` to `max` digits that reads back as `value`, in Python's
 * form: 1.0, 0.0001, 1e-05, 1e+16. printf and strtod follow the locale, so its decimal separator is
 * skipped here and a point is written instead. */
static void put_shortest(struct json_writer *json, double value, bool is_float, int min, int max) {
    char text[48], digits[24], result[48];
    for (int count = min; count <= max; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        double back = strtod(text, NULL);
        if (is_float ? (float)back == (float)value : back == value) break;
    }
    const char *cursor = text;
    int digit_count = 0, size = 0;
    if (*cursor == '-') result[size++] = *cursor++;
    for (; *cursor != 'e'; cursor++)
        if (is_digit(*cursor)) digits[digit_count++] = *cursor;
    int exponent = (int)strtol(cursor + 1, NULL, 10);
    while (digit_count > 1 && digits[digit_count - 1] == '0') digit_count--;
    digits[digit_count] = 0;
    char *end = result + size;
    size_t room = sizeof result - (size_t)size;
    if (exponent < -4 || exponent >= 16)
        snprintf(end, room, "%c%s%se%+03d", digits[0], digit_count > 1 ? "." : "", digits + 1,
                 exponent);
    else if (exponent < 0) snprintf(end, room, "0.%.*s%s", -exponent - 1, "000", digits);
    else if (digit_count <= exponent + 1)
        snprintf(end, room, "%s%.*s.0", digits, exponent + 1 - digit_count, "000000000000000");
    else snprintf(end, room, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    scalar(json, result);
}

void json_double(struct json_writer *json, double value) {
    if (isfinite(value)) put_shortest(json, value, false, 15, 17);
    else json_none(json);
}

void json_float(struct json_writer *json, float value) {
    if (isnan(value)) scalar(json, "\"NaN\"");
    else if (isinf(value)) scalar(json, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else put_shortest(json, (double)value, true, 6, 9);
}

void json_none(struct json_writer *json) {
    scalar(json, "null");
}

void json_bool(struct json_writer *json, bool value) {
    scalar(json, value ? "true" : "false");
}

void json_hex(struct json_writer *json, const uint8_t *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    separate(json);
    put(json, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        char two[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        put(json, two, 2);
    }
    put(json, "\"", 1);
}
