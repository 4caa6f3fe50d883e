#include "parse/image/resize.h"

static void filter_down(int16_t *line, const uint8_t *const *rows, const int16_t *weights,
                        uint32_t taps, size_t size) {
    enum { SHIFT = FILTER_BITS - RESIZE_FRACTION_BITS, BLOCK = 256 };
    int32_t sums[BLOCK];
    for (size_t at = 0; at < size; at += BLOCK) {
        size_t count = size - at < BLOCK ? size - at : BLOCK;
        for (size_t i = 0; i < count; i++) sums[i] = 1 << (SHIFT - 1);
        for (uint32_t t = 0; t < taps; t++) {
            const uint8_t *row = rows[t] + at;
            const int32_t weight = weights[t];
            for (size_t i = 0; i < count; i++) sums[i] += weight * row[i];
        }
        for (size_t i = 0; i < count; i++) line[at + i] = (int16_t)(sums[i] >> SHIFT);
    }
}

static inline uint8_t clamp(int32_t value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Inlined for each number of channels, so that the inner loop is unrolled. */
static inline __attribute__((always_inline)) void
filter_across(uint8_t *row, const int16_t *line, const struct filter *filter, unsigned channels) {
    enum { SHIFT = FILTER_BITS + RESIZE_FRACTION_BITS };
    for (uint32_t x = 0; x < filter->count; x++) {
        const int16_t *source = line + (size_t)filter->first[x] * channels;
        const int16_t *weights = filter->weights + (size_t)x * filter->taps_stride;
        int32_t sums[4] = {1 << (SHIFT - 1), 1 << (SHIFT - 1), 1 << (SHIFT - 1), 1 << (SHIFT - 1)};
        for (uint32_t t = 0; t < filter->taps[x]; t++)
            for (unsigned c = 0; c < channels; c++)
                sums[c] += weights[t] * source[t * channels + c];
        for (unsigned c = 0; c < channels; c++) row[x * channels + c] = clamp(sums[c] >> SHIFT);
    }
}

static void across(uint8_t *row, const int16_t *line, const struct filter *filter,
                   unsigned channels) {
    switch (channels) {
    case 1: filter_across(row, line, filter, 1); return;
    case 3: filter_across(row, line, filter, 3); return;
    default: filter_across(row, line, filter, 4); return;
    }
}

const struct resize_path resize_portable = {filter_down, across};
