#include "parse/image/resize.h"

#ifdef RESIZE_AVX2
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))

enum { PAIRS_MAX = 4 }; /* pairs of rows whose weights stay in registers */

/* Two weights as a pair of 16-bit numbers; the second is 0 past the end. */
TARGET static inline __m256i load_pair(const int16_t *weights, uint32_t t, uint32_t taps) {
    uint32_t second = t + 1 < taps ? (uint16_t)weights[t + 1] : 0;
    return _mm256_set1_epi32((int)(second << 16 | (uint16_t)weights[t]));
}

/* Sixteen samples of two rows are interleaved, so that one instruction multiplies each pair by its
 * two weights and adds the products to the sums. */
TARGET static inline void add_pair(__m256i sums[2], const uint8_t *first, const uint8_t *second,
                                   __m256i pair) {
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)first);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)second);
    __m256i ab = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b));
    sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(ab, pair));
    ab = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b));
    sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(ab, pair));
}

TARGET static inline void store_line(int16_t *line, const __m256i sums[2]) {
    enum { SHIFT = FILTER_BITS - RESIZE_FRACTION_BITS };
    __m256i low = _mm256_srai_epi32(sums[0], SHIFT), high = _mm256_srai_epi32(sums[1], SHIFT);
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
    _mm256_storeu_si256((__m256i *)(void *)line, packed);
}

/* A constant number of pairs: the compiler unrolls the inner loop, and keeps the weights and the
 * rows in registers. Reads up to 15 samples past the end, and writes as many. */
TARGET static inline __attribute__((always_inline)) void
filter_pairs(int16_t *line, const uint8_t *const *rows, const int16_t *weights, uint32_t taps,
             size_t size, uint32_t pair_count) {
    const __m256i half = _mm256_set1_epi32(1 << (FILTER_BITS - RESIZE_FRACTION_BITS - 1));
    const uint8_t *first[PAIRS_MAX], *second[PAIRS_MAX];
    __m256i pairs[PAIRS_MAX];
    for (uint32_t p = 0; p < pair_count; p++) {
        first[p] = rows[2 * p];
        second[p] = rows[2 * p + 1 < taps ? 2 * p + 1 : 2 * p];
        pairs[p] = load_pair(weights, 2 * p, taps);
    }
    for (size_t at = 0; at < size; at += 16) {
        __m256i sums[2] = {half, half};
        for (uint32_t p = 0; p < pair_count; p++)
            add_pair(sums, first[p] + at, second[p] + at, pairs[p]);
        store_line(line + at, sums);
    }
}

TARGET static void filter_down(int16_t *line, const uint8_t *const *rows, const int16_t *weights,
                               uint32_t taps, size_t size) {
    switch ((taps + 1) / 2) {
    case 1: filter_pairs(line, rows, weights, taps, size, 1); return;
    case 2: filter_pairs(line, rows, weights, taps, size, 2); return;
    case 3: filter_pairs(line, rows, weights, taps, size, 3); return;
    case 4: filter_pairs(line, rows, weights, taps, size, 4); return;
    default: break;
    }
    const __m256i half = _mm256_set1_epi32(1 << (FILTER_BITS - RESIZE_FRACTION_BITS - 1));
    for (size_t at = 0; at < size; at += 16) {
        __m256i sums[2] = {half, half};
        for (uint32_t t = 0; t < taps; t += 2)
            add_pair(sums, rows[t] + at, rows[t + 1 < taps ? t + 1 : t] + at,
                     load_pair(weights, t, taps));
        store_line(line + at, sums);
    }
}

/* Samples of two pixels of the result, in the halves of a register. */
TARGET static inline __m256i load_samples(const int16_t *low, const int16_t *high) {
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)low);
    __m128i second = _mm_loadu_si128((const __m128i *)(const void *)high);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

/* Two weights of each, repeated within the halves. */
TARGET static inline __m256i load_weights(const int16_t *low, const int16_t *high) {
    int32_t first, second;
    memcpy(&first, low, sizeof first);
    memcpy(&second, high, sizeof second);
    return _mm256_blend_epi32(_mm256_set1_epi32(first), _mm256_set1_epi32(second), 0xf0);
}

/* Stores four pixels: the first two are in the halves of `low`. Sixteen bytes are written, so with
 * three channels the four after the pixels are overwritten. */
TARGET static inline void store_pixels(uint8_t *row, __m256i low, __m256i high, unsigned channels) {
    enum { SHIFT = FILTER_BITS + RESIZE_FRACTION_BITS };
    const __m128i dense = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m256i packed =
        _mm256_packs_epi32(_mm256_srai_epi32(low, SHIFT), _mm256_srai_epi32(high, SHIFT));
    packed = _mm256_packus_epi16(packed, packed); /* pixels 0 and 2, then 1 and 3 */
    __m128i pixels =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
    if (channels == 3) pixels = _mm_shuffle_epi8(pixels, dense);
    _mm_storeu_si128((__m128i *)(void *)row, pixels);
}

/* The shuffle brings the same channel of two neighbours together: r0 r1 g0 g1 b0 b1. */
TARGET static inline __m256i shuffle_of(unsigned channels) {
    const __m128i together3 = _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1);
    const __m128i together4 = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    return _mm256_broadcastsi128_si256(channels == 3 ? together3 : together4);
}

/* Adds to the sums of two pixels: the samples from `low` and `high` on, times their weights. */
TARGET static inline __m256i add_taps(__m256i sums, const int16_t *const samples[2],
                                      const int16_t *const weights[2], __m256i together) {
    __m256i both = _mm256_shuffle_epi8(load_samples(samples[0], samples[1]), together);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(both, load_weights(weights[0], weights[1])));
}

/* Four pixels at a time, and two taps of each. All pixels get as many taps as the one with the
 * most, so that the number of steps is known; those past a pixel's own have the weight 0. If fewer
 * than four pixels are left, the last one takes the place of the missing ones. */
TARGET static inline __attribute__((always_inline)) void
filter_across(uint8_t *row, const int16_t *line, const struct filter *filter, unsigned channels,
              uint32_t taps) {
    enum { SHIFT = FILTER_BITS + RESIZE_FRACTION_BITS };
    const __m256i together = shuffle_of(channels), half = _mm256_set1_epi32(1 << (SHIFT - 1));
    const uint32_t last = filter->count - 1;
    for (uint32_t x = 0; x <= last; x += 4) {
        const int16_t *samples[4], *weights[4];
        for (uint32_t p = 0; p < 4; p++) {
            uint32_t pixel = x + p < last ? x + p : last;
            samples[p] = line + (size_t)filter->first[pixel] * channels;
            weights[p] = filter->weights + (size_t)pixel * filter->taps_stride;
        }
        __m256i low = half, high = half;
        for (uint32_t t = 0; t < taps; t += 2) {
            low = add_taps(low, samples, weights, together);
            high = add_taps(high, samples + 2, weights + 2, together);
            for (uint32_t p = 0; p < 4; p++) samples[p] += 2 * channels, weights[p] += 2;
        }
        store_pixels(row + (size_t)x * channels, low, high, channels);
    }
}

/* Few taps are usual: with a constant number of them the compiler unrolls the inner loop. */
TARGET static inline __attribute__((always_inline)) void
filter_channels(uint8_t *row, const int16_t *line, const struct filter *filter, unsigned channels) {
    switch ((filter->taps_max + 1) / 2) {
    case 1: filter_across(row, line, filter, channels, 2); return;
    case 2: filter_across(row, line, filter, channels, 4); return;
    case 3: filter_across(row, line, filter, channels, 6); return;
    default: filter_across(row, line, filter, channels, filter->taps_max); return;
    }
}

TARGET static void across(uint8_t *row, const int16_t *line, const struct filter *filter,
                          unsigned channels) {
    if (channels == 3) filter_channels(row, line, filter, 3);
    else if (channels == 4) filter_channels(row, line, filter, 4);
    else resize_portable.across(row, line, filter, channels);
}

const struct resize_path resize_avx2 = {filter_down, across};
#endif
