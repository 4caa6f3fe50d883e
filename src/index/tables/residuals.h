/* Residuals: unsigned integers stored in equally many bits each, one after the other from the
 * lowest bit of the first byte on. Blocks of offsets and of element counts consist of them. */
#ifndef RECMAP_INDEX_TABLES_RESIDUALS_H
#define RECMAP_INDEX_TABLES_RESIDUALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/bytes.h"

enum {
    RESIDUALS_PADDING = 8, /* after the bits, so that eight bytes can be read from every residual */
    RESIDUALS_BLOCK_SHIFT = 7,
    RESIDUALS_BLOCK_RECORDS = 1 << RESIDUALS_BLOCK_SHIFT,
};

/* The blocks of a chunk of `record_count` records, of which only the last can be incomplete. */
static inline size_t residuals_block_count(size_t record_count) {
    return (record_count + RESIDUALS_BLOCK_RECORDS - 1) >> RESIDUALS_BLOCK_SHIFT;
}

static inline size_t residuals_in_block(size_t record_count, size_t block) {
    return (size_t)min_u64(record_count - (block << RESIDUALS_BLOCK_SHIFT),
                           RESIDUALS_BLOCK_RECORDS);
}

/* The bits that each residual takes if the largest is `largest`: 0 to 56, or 64. A load of 64 bits
 * at any bit position yields at least 57 bits, so wider residuals take 64 and begin at a byte. */
unsigned residuals_width(uint64_t largest);

bool residuals_width_is_valid(unsigned width);

/* Bytes that `count` residuals take, a multiple of 8. */
size_t residuals_size(size_t count, unsigned width);

/* Returns true if `count` residuals of this width, from a start in units of 8 bytes on, lie within
 * `bits_size` bytes. All arguments are untrusted. */
bool residuals_fit(uint32_t start, unsigned width, size_t count, uint64_t bits_size);

/* Writes `count` residuals, and returns residuals_size. */
size_t residuals_write(uint8_t *bits, unsigned width, const uint64_t *residuals, size_t count);

/* Residual `i`. The padding must follow the bits. */
static inline uint64_t residuals_at(const uint8_t *bits, size_t i, unsigned width) {
    if (width == 64) return load64(bits + 8 * i);
    size_t bit = i * width;
    return load64(bits + (bit >> 3)) >> (bit & 7) & (((uint64_t)1 << width) - 1);
}

#endif
