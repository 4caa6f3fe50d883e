#include "base/permutation/rounds.h"

#ifdef ROUNDS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
typedef uint32_t vector __attribute__((vector_size(32), may_alias));

TARGET static inline __attribute__((always_inline)) vector broadcast(uint32_t x) {
    return (vector)_mm256_set1_epi32((int)x);
}

#include "base/permutation/rounds_wide.inc"

/* Multiplies the even lanes, then the odd ones, which a shuffle moves to even positions. */
TARGET static inline __attribute__((always_inline)) vector multiply_high(vector a, vector b) {
    __m256i even = _mm256_mul_epu32((__m256i)a, (__m256i)b);
    __m256i odd = _mm256_mul_epu32(_mm256_shuffle_epi32((__m256i)a, 0xf5), (__m256i)b);
    return (vector)_mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xf5), odd, 0xaa);
}

TARGET static inline __attribute__((always_inline)) vector wrap(vector d, vector b) {
    return (vector)_mm256_min_epu32((__m256i)d, (__m256i)(d + b));
}

#include "base/permutation/rounds_body.inc"

const struct rounds_path rounds_avx2 = {forward, backward};
#endif
