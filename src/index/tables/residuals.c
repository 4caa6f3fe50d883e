#include "index/tables/residuals.h"

enum { PACKED_WIDTH_MAX = 56 };

unsigned residuals_width(uint64_t largest) {
    unsigned width = bit_length(largest);
    return width > PACKED_WIDTH_MAX ? 64 : width;
}

bool residuals_width_is_valid(unsigned width) {
    return width <= PACKED_WIDTH_MAX || width == 64;
}

size_t residuals_size(size_t count, unsigned width) {
    return (count * width + 63) / 64 * 8;
}

bool residuals_fit(uint32_t start, unsigned width, size_t count, uint64_t bits_size) {
    return residuals_width_is_valid(width) &&
           bytes_fit(8 * (uint64_t)start, residuals_size(count, width), bits_size);
}

size_t residuals_write(uint8_t *bits, unsigned width, const uint64_t *residuals, size_t count) {
    uint64_t word = 0;
    unsigned filled = 0;
    size_t size = residuals_size(count, width);
    for (size_t i = 0; i < count; i++) {
        word |= residuals[i] << filled;
        filled += width;
        if (filled < 64) continue;
        store64(bits, word);
        bits += 8;
        filled -= 64;
        word = filled ? residuals[i] >> (width - filled) : 0;
    }
    if (filled) store64(bits, word);
    return size;
}
