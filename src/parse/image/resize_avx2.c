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

/* Four taps at a time, two in each half of a register. The shuffle brings the same channel of two
 * neighbours together: r0 r1 g0 g1 b0 b1. Taps past the end have the weight 0. */
TARGET static inline __attribute__((always_inline)) void
filter_across(uint8_t *row, const int16_t *line, const struct filter *filter, unsigned channels) {
    enum { SHIFT = FILTER_BITS + RESIZE_FRACTION_BITS };
    const __m256i together3 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1));
    const __m256i together4 = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i together = channels == 3 ? together3 : together4;
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    const __m128i half = _mm_set1_epi32(1 << (SHIFT - 1));
    for (uint32_t x = 0; x < filter->count; x++) {
        const int16_t *source = line + (size_t)filter->first[x] * channels;
        const int16_t *weights = filter->weights + (size_t)x * filter->taps_max;
        __m256i sum = _mm256_setzero_si256();
        for (uint32_t t = 0; t < filter->taps[x]; t += 4) {
            const int16_t *from = source + (size_t)t * channels;
            __m128i first = _mm_loadu_si128((const __m128i *)(const void *)from);
            __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(from + 2 * channels));
            __m256i samples = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), together);
            __m128i four = _mm_loadl_epi64((const __m128i *)(const void *)(weights + t));
            __m256i pairs = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four), spread);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(samples, pairs));
        }
        __m128i all = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        all = _mm_srai_epi32(_mm_add_epi32(all, half), SHIFT);
        all = _mm_packs_epi32(all, all);
        uint32_t pixel = (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(all, all));
        memcpy(row + (size_t)x * channels, &pixel, 4);
    }
}

TARGET static void across(uint8_t *row, const int16_t *line, const struct filter *filter,
                          unsigned channels) {
    if (channels == 3) filter_across(row, line, filter, 3);
    else if (channels == 4) filter_across(row, line, filter, 4);
    else resize_portable.across(row, line, filter, channels);
}

const struct resize_path resize_avx2 = {filter_down, across};
#endif
