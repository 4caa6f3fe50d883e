/* The elements of a raw value that is a ZLIB stream. Source of the format: RFC 1950. */
#ifndef RECMAP_PARSE_DECODE_RAW_ZLIB_H
#define RECMAP_PARSE_DECODE_RAW_ZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest value when it is inflated, in bytes. */
#define RAW_ZLIB_MAX ((size_t)256 << 20)

struct raw_zlib {
    uint8_t *bytes; /* free() them; NULL if the stream could not be inflated */
    size_t size;
    const char *reason; /* what is wrong with the stream, a static string; NULL if memory ran out */
};

/* Inflates a value. `most` is the largest size that is of use, at most RAW_ZLIB_MAX: a larger
 * stream counts as damaged. Memory: up to twice the size, and never more than the stream's size
 * times 1,100. */
struct raw_zlib raw_zlib_inflate(const uint8_t *data, size_t size, size_t most);

#endif
