/* Finds the first of a few bytes, 16 bytes at a time where the CPU's base instructions allow it.
 *
 * The masks of a block have one bit for each byte, which is bit i << FIND_BYTE_SHIFT for byte i. */
#ifndef RECMAP_BASE_TEXT_FIND_BYTE_H
#define RECMAP_BASE_TEXT_FIND_BYTE_H

#include <stdint.h>

#if defined(__SSE2__) && !defined(RECMAP_PORTABLE)
#include <emmintrin.h>

enum { FIND_BYTE_STEP = 16, FIND_BYTE_SHIFT = 0 };

/* Marks the bytes that are one of the three. */
static inline uint64_t find_byte_mask(const char *block, char a, char b, char c) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)block);
    __m128i is_a = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(a));
    __m128i is_b = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b));
    __m128i is_c = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(is_a, _mm_or_si128(is_b, is_c)));
}

/* Marks the bytes that are one of the two, or at most CR. */
static inline uint64_t find_control_mask(const char *block, char a, char b) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)block);
    __m128i is_a = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(a));
    __m128i is_b = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b));
    __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8('\r')), bytes);
    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(is_a, _mm_or_si128(is_b, is_control)));
}
#elif defined(__aarch64__) && !defined(RECMAP_PORTABLE)
#include <arm_neon.h>

enum { FIND_BYTE_STEP = 16, FIND_BYTE_SHIFT = 2 };

/* One bit of each byte that has all bits set. */
static inline uint64_t find_byte_bits(uint8x16_t bytes) {
    uint8x8_t halves = vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4);
    return vget_lane_u64(vreinterpret_u64_u8(halves), 0) & UINT64_C(0x1111111111111111);
}

/* Marks the bytes that are one of the three. */
static inline uint64_t find_byte_mask(const char *block, char a, char b, char c) {
    uint8x16_t bytes = vld1q_u8((const uint8_t *)block);
    uint8x16_t is_a = vceqq_u8(bytes, vdupq_n_u8((uint8_t)a));
    uint8x16_t is_b = vceqq_u8(bytes, vdupq_n_u8((uint8_t)b));
    uint8x16_t is_c = vceqq_u8(bytes, vdupq_n_u8((uint8_t)c));
    return find_byte_bits(vorrq_u8(is_a, vorrq_u8(is_b, is_c)));
}

/* Marks the bytes that are one of the two, or at most CR. */
static inline uint64_t find_control_mask(const char *block, char a, char b) {
    uint8x16_t bytes = vld1q_u8((const uint8_t *)block);
    uint8x16_t is_a = vceqq_u8(bytes, vdupq_n_u8((uint8_t)a));
    uint8x16_t is_b = vceqq_u8(bytes, vdupq_n_u8((uint8_t)b));
    uint8x16_t is_control = vcleq_u8(bytes, vdupq_n_u8('\r'));
    return find_byte_bits(vorrq_u8(is_a, vorrq_u8(is_b, is_control)));
}
#else
enum { FIND_BYTE_STEP = 1, FIND_BYTE_SHIFT = 0 };

static inline uint64_t find_byte_mask(const char *block, char a, char b, char c) {
    return *block == a || *block == b || *block == c;
}

static inline uint64_t find_control_mask(const char *block, char a, char b) {
    return *block == a || *block == b || (unsigned char)*block <= '\r';
}
#endif

/* Returns the first byte from `at` on that is one of the three, or `end`. Two of them, or all, may
 * be the same. */
static inline const char *find_byte(const char *at, const char *end, char a, char b, char c) {
    for (; end - at >= FIND_BYTE_STEP; at += FIND_BYTE_STEP) {
        uint64_t mask = find_byte_mask(at, a, b, c);
        if (mask) return at + (__builtin_ctzll(mask) >> FIND_BYTE_SHIFT);
    }
    while (at < end && *at != a && *at != b && *at != c) at++;
    return at;
}

#endif
