#include "viewer/page_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/characters.h"
#include "terminal/advice.h"

enum { STRING_SHOWN_MAX = 4096 };

static void write_comma(struct page_json *json) {
    if (json->needs_comma) putc(',', json->stream);
    json->needs_comma = true;
}

void page_json_begin(struct page_json *json, char bracket) {
    write_comma(json);
    putc(bracket, json->stream);
    json->needs_comma = false;
}

void page_json_end(struct page_json *json, char bracket) {
    putc(bracket, json->stream);
    json->needs_comma = true;
}

void page_json_key(struct page_json *json, const char *key) {
    write_comma(json);
    fprintf(json->stream, "\"%s\":", key);
    json->needs_comma = false;
}

void page_json_number(struct page_json *json, uint64_t number) {
    write_comma(json);
    fprintf(json->stream, "%" PRIu64, number);
}

void page_json_null(struct page_json *json) {
    write_comma(json);
    fputs("null", json->stream);
}

void page_json_begin_string(struct page_json *json) {
    write_comma(json);
    putc('"', json->stream);
}

void page_json_end_string(struct page_json *json) {
    putc('"', json->stream);
}

/* Writes one visible character of `size` bytes. Those that mean something in HTML are escaped,
 * although nothing reads a reply as HTML. */
static void write_visible(struct page_json *json, const uint8_t *text, size_t size,
                          uint32_t character) {
    switch (character) {
    case '"':
    case '\\': fprintf(json->stream, "\\%c", (int)character); break;
    case '\n': fputs("\\n", json->stream); break;
    case '\t': fputs("\\t", json->stream); break;
    case '\r': fputs("\\\\r", json->stream); break;
    case '<':
    case '>':
    case '&': fprintf(json->stream, "\\u%04x", (unsigned)character); break;
    default: fwrite(text, 1, size, json->stream);
    }
}

/* Writes the character at `text`, and returns its size. */
static size_t write_character(struct page_json *json, const uint8_t *text, size_t size) {
    uint32_t character;
    size_t length = character_decode(&character, text, size);
    if (!length) {
        fprintf(json->stream, "\\\\x%02x", text[0]);
        return 1;
    }
    if (character_is_hidden(character))
        fprintf(json->stream, character < 0x10000 ? "\\\\u%04x" : "\\\\U%08x", (unsigned)character);
    else write_visible(json, text, length, character);
    return length;
}

void page_json_piece(struct page_json *json, const void *text, size_t size, size_t limit) {
    const uint8_t *bytes = text;
    size_t shown = 0;
    for (size_t i = 0; i < size; shown++) {
        if (shown == limit) {
            fputs("…", json->stream);
            return;
        }
        i += write_character(json, bytes + i, size - i);
    }
}

void page_json_format(struct page_json *json, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    page_json_piece(json, text, strlen(text), sizeof text);
}

void page_json_text(struct page_json *json, const void *text, size_t size, size_t limit) {
    page_json_begin_string(json);
    page_json_piece(json, text, size, limit);
    page_json_end_string(json);
}

void page_json_string(struct page_json *json, const char *text) {
    page_json_text(json, text, strlen(text), STRING_SHOWN_MAX);
}

void page_json_hex(struct page_json *json, const uint8_t *data, size_t size) {
    page_json_begin_string(json);
    for (size_t i = 0; i < size; i++) fprintf(json->stream, "%02x", data[i]);
    page_json_end_string(json);
}

void page_json_int64(struct page_json *json, int64_t value) {
    write_comma(json);
    fprintf(json->stream, "\"%" PRId64 "\"", value);
}

/* Writes the fewest digits that give back the same float. */
void page_json_float(struct page_json *json, float value) {
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    write_comma(json);
    fprintf(json->stream, "\"%s\"", text);
}

static void write_double(struct page_json *json, double value) {
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    write_comma(json);
    fprintf(json->stream, "\"%s\"", text);
}

void page_json_value(struct page_json *json, const recmap_value *value, size_t limit) {
    switch (value->type) {
    case RECMAP_TYPE_INT64: page_json_int64(json, value->as.int64); break;
    case RECMAP_TYPE_FLOAT: page_json_float(json, value->as.float32); break;
    case RECMAP_TYPE_FLOAT64: write_double(json, value->as.float64); break;
    case RECMAP_TYPE_BYTES:
        page_json_text(json, value->as.bytes.data, value->as.bytes.size, limit);
        break;
    default: page_json_null(json);
    }
}

void page_json_error(struct page_json *json, const recmap_error *error) {
    page_json_key(json, "error");
    page_json_string(json, error->message);
    char advice[sizeof error->advice];
    memcpy(advice, error->advice, sizeof advice);
    advice_remove_c(advice);
    if (!advice[0]) return;
    page_json_key(json, "advice");
    page_json_string(json, advice);
}
