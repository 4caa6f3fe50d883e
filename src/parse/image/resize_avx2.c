#include "parse/image/resize.h"

#ifdef RESIZE_AVX2
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))

/* Two weights as a pair of 16-bit numbers; the second is 0 past the end. */
TARGET static inline __m256i load_pair(const int16_t *weights, uint32_t t, uint32_t taps) {
    uint32_t second = t + 1 < taps ? (uint16_t)weights[t + 1] : 0;
    return _mm256_set1_epi32((int)(second << 16 | (uint16_t)weights[t]));
}

/* Sixteen samples of two rows are interleaved, so that one instruction multiplies each pair by its
 * two weights and adds the products. Reads up to 15 samples past the end, and writes as many. */
TARGET static void filter_down(int16_t *line, const uint8_t *const *rows, const int16_t *weights,
                               uint32_t taps, size_t size) {
    enum { SHIFT = FILTER_BITS - RESIZE_FRACTION_BITS };
    const __m256i half = _mm256_set1_epi32(1 << (SHIFT - 1));
    for (size_t at = 0; at < size; at += 16) {
        __m256i low = half, high = half;
        for (uint32_t t = 0; t < taps; t += 2) {
            const uint8_t *next = rows[t + 1 < taps ? t + 1 : t];
            __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(rows[t] + at));
            __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(next + at));
            __m256i pair = load_pair(weights, t, taps);
            __m256i ab = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b));
            low = _mm256_add_epi32(low, _mm256_madd_epi16(ab, pair));
            ab = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(ab, pair));
        }
        low = _mm256_srai_epi32(low, SHIFT);
        high = _mm256_srai_epi32(high, SHIFT);
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
        _mm256_storeu_si256((__m256i *)(void *)(line + at), packed);
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

/* Rounds sums, and stores a pixel from each half. Four bytes are written, so the byte after a pixel
 * of three channels is overwritten. */
TARGET static inline void store_pixels(uint8_t *low, uint8_t *high, __m256i sums) {
    enum { SHIFT = FILTER_BITS + RESIZE_FRACTION_BITS };
    sums = _mm256_srai_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(1 << (SHIFT - 1))), SHIFT);
    sums = _mm256_packs_epi32(sums, sums);
    sums = _mm256_packus_epi16(sums, sums);
    int32_t first = _mm_cvtsi128_si32(_mm256_castsi256_si128(sums));
    int32_t second = _mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1));
    memcpy(low, &first, sizeof first);
    memcpy(high, &second, sizeof second);
}

/* The shuffle brings the same channel of two neighbours together: r0 r1 g0 g1 b0 b1. */
TARGET static inline __m256i shuffle_of(unsigned channels) {
    const __m128i together3 = _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1);
    const __m128i together4 = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    return _mm256_broadcastsi128_si256(channels == 3 ? together3 : together4);
}

/* Two pixels at a time, and two taps of each. All pixels get as many taps as the one with the most,
 * so that the number of steps is known; those past a pixel's own have the weight 0. */
TARGET static inline __attribute__((always_inline)) void
filter_across(uint8_t *row, const int16_t *line, const struct filter *filter, unsigned channels,
              uint32_t taps) {
    const __m256i together = shuffle_of(channels);
    const uint32_t count = filter->count;
    const int16_t *low_weights = filter->weights;
    for (uint32_t x = 0; x < count; x += 2, low_weights += 2 * (size_t)filter->taps_stride) {
        const bool is_pair = x + 1 < count;
        const int16_t *low = line + (size_t)filter->first[x] * channels;
        const int16_t *high = line + (size_t)filter->first[x + is_pair] * channels;
        const int16_t *high_weights = is_pair ? low_weights + filter->taps_stride : low_weights;
        __m256i sums = _mm256_setzero_si256();
        for (uint32_t t = 0; t < taps; t += 2) {
            __m256i samples = load_samples(low + t * channels, high + t * channels);
            __m256i weights = load_weights(low_weights + t, high_weights + t);
            samples = _mm256_shuffle_epi8(samples, together);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(samples, weights));
        }
        uint8_t *pixel = row + (size_t)x * channels;
        store_pixels(pixel, pixel + is_pair * channels, sums);
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
