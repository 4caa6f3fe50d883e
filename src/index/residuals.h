/* Residuals: unsigned integers stored in equally many bits each, one after the other from the
 * lowest bit of the first byte on. Blocks of offsets and of element counts consist of them. */
#ifndef RECMAP_INDEX_RESIDUALS_H
#define RECMAP_INDEX_RESIDUALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    RESIDUALS_PADDING = 8, /* after the bits, so that eight bytes can be read from every residual */
};

/* The bits that each residual takes if the largest is `largest`: 0 to 56, or 64. A load of 64 bits
 * at any bit position yields at least 57 bits, so wider residuals take 64 and begin at a byte. */
unsigned residuals_width(uint64_t largest);

bool residuals_width_is_valid(unsigned width);

/* Bytes that `count` residuals take, a multiple of 8. */
size_t residuals_size(size_t count, unsigned width);

/* Writes `count` residuals, and returns residuals_size. */
size_t residuals_write(uint8_t *bits, unsigned width, const uint64_t *residuals, size_t count);

/* Residual `i`. The padding must follow the bits. */
static inline uint64_t residuals_at(const uint8_t *bits, size_t i, unsigned width) {
    if (width == 64) return load64(bits + 8 * i);
    size_t bit = i * width;
    return load64(bits + (bit >> 3)) >> (bit & 7) & (((uint64_t)1 << width) - 1);
}

#endif
