/* Numbers as people and programs write them in tables, whatever the locale is. The whole text must
 * be the number; spaces are the caller's. */
#ifndef RECMAP_BASE_TEXT_PLAIN_NUMBER_H
#define RECMAP_BASE_TEXT_PLAIN_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read [+-]digits. Return false for any other text, and beyond the type. */
bool plain_int64(int64_t *value, const char *text, size_t size);
bool plain_uint64(uint64_t *value, const char *text, size_t size);

/* Reads [+-]digits[.digits][e[+-]digits], where one side of the point may be empty, and nan, inf
 * and infinity in any case. The result is the nearest double or float; a number beyond them is an
 * infinity. For a float, more than 19 digits are rounded to a double first. Returns false for any
 * other text. */
bool plain_double(double *value, const char *text, size_t size);
bool plain_float(float *value, const char *text, size_t size);

/* The same, faster: `end` is that of the bytes that may be read, which follow the text. */
bool plain_float_within(float *value, const char *text, size_t size, const char *end);

#endif
