/* Writing JSON into a recmap_text. A writer remembers the first failure and then writes nothing. */
#ifndef RECMAP_BASE_JSON_H
#define RECMAP_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/text.h>

/* Appends to a text; false when memory is out. */
bool text_append(recmap_text *text, const char *data, size_t size);

struct json_writer {
    recmap_text *text;
    size_t start;     /* of what is written, in the text */
    bool failed;      /* memory ran out; the text is incomplete */
    bool needs_comma; /* before the next key or value */
};

struct json_writer json_begin(recmap_text *text);

/* Takes back what was written, and begins again. */
void json_restart(struct json_writer *json);

/* NO_MEMORY where memory ran out: the text is then as it was. */
recmap_status json_end(struct json_writer *json, recmap_error *error);

void json_open(struct json_writer *json, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *json, char bracket); /* '}' or ']' */
/* Keys and texts are UTF-8. Control characters are escaped, bytes that are no UTF-8 come out as
 * U+FFFD. A key of a given size may have NULs in it. */
void json_key(struct json_writer *json, const char *key);
void json_key_sized(struct json_writer *json, const void *key, size_t size);
void json_text(struct json_writer *json, const char *value);
void json_base64(struct json_writer *json, const void *data, size_t size);
void json_uint64(struct json_writer *json, uint64_t value); /* a number */
void json_int64(struct json_writer *json, int64_t value);   /* a number */
void json_int64_string(struct json_writer *json,
                       int64_t value); /* "..." as protobuf writes 64 bits */
/* Floating point is written as Python writes it (1.0, 1e-05), whatever the process's locale: the
 * fewest digits that read back, from 15 up for a double (not finite: null) and from 6 up for a
 * float, as protobuf maps it ("NaN", "Infinity", "-Infinity"). */
void json_double(struct json_writer *json, double value);
void json_float(struct json_writer *json, float value);
void json_none(struct json_writer *json);
void json_hex(struct json_writer *json, const uint8_t *bytes, size_t size); /* "0a1b..." */

/* Whether `size` bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool utf8_valid(const uint8_t *data, size_t size);

#endif
