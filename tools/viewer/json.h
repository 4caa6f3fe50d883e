/* Writes JSON. Everything that comes from a data set is written by json_text, which shows bytes
 * that are not UTF-8 and characters that are invisible or reorder text as their codes. */
#ifndef RECMAP_TOOLS_VIEWER_JSON_H
#define RECMAP_TOOLS_VIEWER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <recmap/record.h>

struct json {
    FILE *stream;
    bool needs_comma; /* before the next key or value */
};

/* `bracket` is one of {}[]. */
void json_begin(struct json *json, char bracket);
void json_end(struct json *json, char bracket);

/* The key of the next value; a static string without characters to escape. */
void json_key(struct json *json, const char *key);

void json_number(struct json *json, uint64_t number);
void json_null(struct json *json);

/* A string: untrusted text, of which up to `limit` characters are shown. */
void json_text(struct json *json, const void *text, size_t size, size_t limit);
/* The same for a C string. */
void json_string(struct json *json, const char *text);

/* A string that is written in pieces. */
void json_begin_string(struct json *json);
void json_piece(struct json *json, const void *text, size_t size, size_t limit);
void json_format(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));
void json_end_string(struct json *json);

/* A string of hexadecimal digits. */
void json_hex(struct json *json, const uint8_t *data, size_t size);

/* Numbers as strings, because JavaScript has no integers of 64 bits, and JSON no NaN. */
void json_int64(struct json *json, int64_t value);
void json_float(struct json *json, float value);
/* A value of any type; null for none. Bytes show up to `limit` characters. */
void json_value(struct json *json, const recmap_value *value, size_t limit);

/* The members "error" and "advice" of an object. */
void json_error(struct json *json, const recmap_error *error);

#endif
