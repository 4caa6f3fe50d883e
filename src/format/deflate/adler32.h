/* Adler-32, the checksum of zlib streams (RFC 1950). */
#ifndef RECMAP_FORMAT_DEFLATE_ADLER32_H
#define RECMAP_FORMAT_DEFLATE_ADLER32_H

#include <stddef.h>
#include <stdint.h>

/* Adds bytes to a sum, which starts at 1. */
uint32_t adler32_add(uint32_t sum, const uint8_t *data, size_t size);

#endif
