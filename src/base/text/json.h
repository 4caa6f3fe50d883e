/* Writes JSON into a recmap_text. After a failure a writer remembers it and writes nothing more. */
#ifndef RECMAP_BASE_TEXT_JSON_H
#define RECMAP_BASE_TEXT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/text.h>

/* Appends to a text. Returns false if memory runs out. */
bool text_append(recmap_text *text, const char *data, size_t size);

struct json_writer {
    recmap_text *text;
    size_t start;     /* where the written JSON starts in the text */
    bool failed;      /* memory ran out; the text is incomplete */
    bool needs_comma; /* before the next key or value */
};

struct json_writer json_begin(recmap_text *text);

/* Discards everything written and starts over. */
void json_restart(struct json_writer *json);

/* Returns RECMAP_NO_MEMORY if memory ran out; the text is then as it was before. */
recmap_status json_end(struct json_writer *json, recmap_error *error);

void json_open(struct json_writer *json, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *json, char bracket); /* '}' or ']' */
/* Keys and texts are UTF-8. Control characters are escaped; invalid bytes become U+FFFD. Those with
 * an explicit size may contain NULs. */
void json_key(struct json_writer *json, const char *key);
void json_key_sized(struct json_writer *json, const void *key, size_t size);
void json_text(struct json_writer *json, const char *value);
void json_text_sized(struct json_writer *json, const void *value, size_t size);
/* Invalid bytes become lone surrogates, U+DC80 to U+DCFF, so that the path can be restored. */
void json_path(struct json_writer *json, const char *path);
void json_base64(struct json_writer *json, const void *data, size_t size);
void json_uint64(struct json_writer *json, uint64_t value); /* a number */
void json_int64(struct json_writer *json, int64_t value);   /* a number */
/* As a string, the way protobuf writes 64-bit integers. */
void json_int64_string(struct json_writer *json, int64_t value);
/* Floats are written as in Python (1.0, 1e-05) whatever the locale is, with the fewest digits that
 * read back as the same value: at least 15 for a double (null if not finite), and at least 6 for a
 * float ("NaN", "Infinity" or "-Infinity" if not finite, as in protobuf's mapping). */
void json_double(struct json_writer *json, double value);
void json_float(struct json_writer *json, float value);
void json_none(struct json_writer *json);
void json_bool(struct json_writer *json, bool value);
void json_hex(struct json_writer *json, const uint8_t *bytes, size_t size); /* "0a1b..." */

/* Returns whether the bytes are well-formed UTF-8 without surrogates and overlong forms. */
bool utf8_valid(const uint8_t *data, size_t size);

#endif
