/* Reading JSON piece by piece, over a text of any bytes: no tree is made, no memory taken, nothing
 * recursed into. What is not there is false; `at` is then at the byte that does not fit. */
#ifndef RECMAP_BASE_JSON_READER_H
#define RECMAP_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_reader {
    const char *at;
    const char *end;
};

/* Passes space; the character that stands there, or 0 at the end. */
char json_peek(struct json_reader *reader);

/* Passes space, then this character; false when another one stands there. */
bool json_take(struct json_reader *reader, char wanted);

/* Passes space, then this word of letters: null, true, false. */
bool json_take_word(struct json_reader *reader, const char *word);

/* Passes space; whether this is the end then. */
bool json_at_end(struct json_reader *reader);

/* A string as it stands in the text, between its quotes: UTF-8 without control characters, in which
 * every escape is whole. */
struct json_string {
    const char *data;
    size_t size;
    bool has_escapes;
};

bool json_read_string(struct json_string *string, struct json_reader *reader);

/* Writes what a string means: UTF-8, NULs perhaps among it, no more bytes than it has itself.
 * Returns how many, or SIZE_MAX when `capacity` is less. */
size_t json_string_decode(char *text, size_t capacity, const struct json_string *string);

/* Whether it means this text. */
bool json_string_is(const struct json_string *string, const char *text);

/* A string into `text`, with a NUL behind it. False for one that is none, has a NUL in it, or no
 * room: what it needs is never more than the text that is read and a NUL. */
bool json_read_text(struct json_reader *reader, char *text, size_t capacity);

/* A whole number without sign, fraction, exponent and leading zeros. */
bool json_read_uint64(struct json_reader *reader, uint64_t *value);

/* A number as it stands in the text: [-]digits[.digits][e[+-]digits], without leading zeros. */
struct json_number {
    const char *data;
    size_t size;
};

bool json_read_number(struct json_number *number, struct json_reader *reader);

/* What a number is worth: exactly, or false when that is no whole number of 64 bits. 1e3 and 2.0
 * are whole numbers. */
bool json_number_to_int64(int64_t *value, const struct json_number *number);

/* The nearest double, or an infinity; whatever the process's locale. */
double json_number_to_double(const struct json_number *number);

/* Passes a value of any kind, up to the comma or bracket behind it, without looking at it closely:
 * for members that are refused anyway. */
void json_skip_value(struct json_reader *reader);

#endif
