/* Deflates a GZIP or ZLIB stream in blocks that do not depend on each other, so that any number of
 * threads writes the same bytes. Pure. Sources: RFC 1950, 1951, 1952. */
#ifndef RECMAP_FORMAT_DEFLATE_DEFLATE_H
#define RECMAP_FORMAT_DEFLATE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/deflate/compression.h"

enum {
    DEFLATE_BLOCK_SIZE = 1 << 20, /* of the input; what is deflated depends on it */
    DEFLATE_BLOCK_ROOM = DEFLATE_BLOCK_SIZE + DEFLATE_BLOCK_SIZE / 64 + 1024,
    DEFLATE_EDGE_ROOM = 16, /* for the beginning or the end of a stream */
};

/* The bytes before the first block. Returns their number. */
size_t deflate_begin(uint8_t out[DEFLATE_EDGE_ROOM], enum compression kind);

/* Deflates up to DEFLATE_BLOCK_SIZE bytes into `out`, which has DEFLATE_BLOCK_ROOM bytes. The
 * result ends at a whole byte. Returns its size, or 0 if memory is out (or if ISA-L fails, which no
 * input makes it do). */
size_t deflate_block(uint8_t *out, const uint8_t *data, size_t size);

/* A checksum of the input, over all blocks in their order. Begin with deflate_sum_begin. */
uint32_t deflate_sum_begin(enum compression kind);
uint32_t deflate_sum(uint32_t sum, enum compression kind, const uint8_t *data, size_t size);

/* The bytes after the last block. Returns their number. */
size_t deflate_end(uint8_t out[DEFLATE_EDGE_ROOM], enum compression kind, uint32_t sum,
                   uint64_t input_size);

#endif
