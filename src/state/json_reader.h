/* Reading the JSON of a state: one object of texts and numbers, over a text of any bytes. It takes
 * no memory and reports nothing but that something is not as it should be. */
#ifndef RECMAP_STATE_JSON_READER_H
#define RECMAP_STATE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_reader {
    const char *at;
    const char *end;
} json_reader;

/* Passes space, then this character; false when another one stands there. */
bool json_take(json_reader *reader, char wanted);

/* Passes space; whether this is the end then. */
bool json_at_end(json_reader *reader);

/* A string into `text`, with a NUL behind it. False for one that is none, has a NUL in it, half a
 * surrogate pair, or no room: what it needs is never more than the text that is read and a NUL. */
bool json_read_text(json_reader *reader, char *text, size_t capacity);

/* A whole number without sign, fraction, exponent and leading zeros. */
bool json_read_uint64(json_reader *reader, uint64_t *value);

/* Passes a value of any kind, up to the comma or bracket behind it, without looking at it closely:
 * for members that are refused anyway. */
void json_skip_value(json_reader *reader);

#endif
