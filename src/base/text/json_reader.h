/* Reads JSON piece by piece from untrusted text without building a tree, allocating memory or
 * recursion. Functions return false if the expected item is not there; `at` then points to the
 * first byte that does not fit. */
#ifndef RECMAP_BASE_TEXT_JSON_READER_H
#define RECMAP_BASE_TEXT_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_reader {
    const char *at;
    const char *end;
};

/* Skips white space and returns the next character, or 0 at the end. */
char json_peek(struct json_reader *reader);

/* Skips white space and then this character. Returns false if there is another one. */
bool json_take(struct json_reader *reader, char wanted);

/* Skips white space and then this word: null, true or false. */
bool json_take_word(struct json_reader *reader, const char *word);

/* Skips white space and returns whether the end is reached. */
bool json_at_end(struct json_reader *reader);

/* The encoded contents of a string, between its quotes: UTF-8 without control characters, with
 * complete escapes only. */
struct json_string {
    const char *data;
    size_t size;
    bool has_escapes;
};

bool json_read_string(struct json_string *string, struct json_reader *reader);

/* Decodes a string to UTF-8, which may contain NULs and is never longer than the encoded form.
 * Returns the number of bytes, or SIZE_MAX if `capacity` is too small. */
size_t json_string_decode(char *text, size_t capacity, const struct json_string *string);

/* Returns whether the decoded string equals this text. */
bool json_string_is(const struct json_string *string, const char *text);

/* Reads a string into `text` and adds a NUL. Returns false if there is no string, if it contains a
 * NUL, or if `capacity` is too small; the size of the text being read plus one always suffices. */
bool json_read_text(struct json_reader *reader, char *text, size_t capacity);

/* Reads an integer without sign, fraction, exponent and leading zeros. */
bool json_read_uint64(struct json_reader *reader, uint64_t *value);

/* The text of a number: [-]digits[.digits][e[+-]digits], without leading zeros. */
struct json_number {
    const char *data;
    size_t size;
};

bool json_read_number(struct json_number *number, struct json_reader *reader);

/* Convert a number exactly. Return false if it is not an integer of that type. 1e3 and 2.0 are
 * integers. */
bool json_number_to_int64(int64_t *value, const struct json_number *number);
bool json_number_to_uint64(uint64_t *value, const struct json_number *number);

/* Returns the nearest double or an infinity, whatever the locale is. */
double json_number_to_double(const struct json_number *number);

/* Converts an unsigned integer beyond int64 to the int64 with the same 64 bits. Returns false for
 * any other number. */
bool json_number_to_bits(int64_t *bits, const struct json_number *number);

/* How deep arrays and objects may be nested for json_check_value. */
enum { JSON_DEPTH_MAX = 1024 };

/* Skips a value of any kind and checks its syntax. Also accepts NaN, Infinity and -Infinity, which
 * Python writes. As nobody reads its strings, they may have lone surrogates or bytes that are not
 * UTF-8. Returns false, as the other functions, also at a bracket that is nested too deeply. */
bool json_check_value(struct json_reader *reader);

/* Skips a value of any kind up to the comma or bracket that follows, without validating it. For
 * members that are rejected anyway. */
void json_skip_value(struct json_reader *reader);

#endif
