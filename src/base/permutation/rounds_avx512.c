#include "base/permutation/rounds.h"

#ifdef ROUNDS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f")))
typedef uint32_t vector __attribute__((vector_size(64), may_alias));

TARGET static inline __attribute__((always_inline)) vector broadcast(uint32_t x) {
    return (vector)_mm512_set1_epi32((int)x);
}

#include "base/permutation/rounds_wide.inc"

/* Multiplies the even lanes, then the odd ones, which a shuffle moves to even positions. */
TARGET static inline __attribute__((always_inline)) vector multiply_high(vector a, vector b) {
    __m512i even = _mm512_mul_epu32((__m512i)a, (__m512i)b);
    __m512i odd = _mm512_mul_epu32(_mm512_shuffle_epi32((__m512i)a, 0xf5), (__m512i)b);
    return (vector)_mm512_mask_shuffle_epi32(odd, 0x5555, even, 0xf5);
}

TARGET static inline __attribute__((always_inline)) vector wrap(vector d, vector b) {
    return (vector)_mm512_min_epu32((__m512i)d, (__m512i)(d + b));
}

#include "base/permutation/rounds_body.inc"

const struct rounds_path rounds_avx512 = {forward, backward};
#endif
