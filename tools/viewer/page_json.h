/* Writes JSON. Everything that comes from a data set is written by page_json_text, which shows
 * bytes that are not UTF-8 and characters that are invisible or reorder text as their codes. */
#ifndef RECMAP_TOOLS_VIEWER_PAGE_JSON_H
#define RECMAP_TOOLS_VIEWER_PAGE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <recmap/record.h>

struct page_json {
    FILE *stream;
    bool needs_comma; /* before the next key or value */
};

/* `bracket` is one of {}[]. */
void page_json_begin(struct page_json *json, char bracket);
void page_json_end(struct page_json *json, char bracket);

/* The key of the next value; a static string without characters to escape. */
void page_json_key(struct page_json *json, const char *key);

void page_json_number(struct page_json *json, uint64_t number);
void page_json_null(struct page_json *json);

/* A string: untrusted text, of which up to `limit` characters are shown. */
void page_json_text(struct page_json *json, const void *text, size_t size, size_t limit);
/* The same for a C string. */
void page_json_string(struct page_json *json, const char *text);

/* A string that is written in pieces. */
void page_json_begin_string(struct page_json *json);
void page_json_piece(struct page_json *json, const void *text, size_t size, size_t limit);
void page_json_format(struct page_json *json, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void page_json_end_string(struct page_json *json);

/* A string of hexadecimal digits. */
void page_json_hex(struct page_json *json, const uint8_t *data, size_t size);

/* Numbers as strings, because JavaScript has no integers of 64 bits, and JSON no NaN. */
void page_json_int64(struct page_json *json, int64_t value);
void page_json_float(struct page_json *json, float value);
/* A value of any type; null for none. Bytes show up to `limit` characters. */
void page_json_value(struct page_json *json, const recmap_value *value, size_t limit);

/* The members "error" and "advice" of an object. */
void page_json_error(struct page_json *json, const recmap_error *error);

#endif
