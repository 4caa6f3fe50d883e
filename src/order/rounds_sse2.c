#include "order/rounds.h"

#ifdef ROUNDS_X86
#include <emmintrin.h>

#define TARGET
typedef uint32_t vector __attribute__((vector_size(16), may_alias));

static inline __attribute__((always_inline)) vector broadcast(uint32_t x) {
    return (vector)_mm_set1_epi32((int)x);
}

typedef int shift_count;

static inline __attribute__((always_inline)) shift_count shift_by(unsigned n) {
    return (int)n;
}

typedef struct products {
    __m128 even, odd;
} products;

/* There are products of two lanes only: those of the even lanes and those of the odd ones. */
static inline __attribute__((always_inline)) products multiply_all(vector a, vector b) {
    __m128i even = _mm_mul_epu32((__m128i)a, (__m128i)b);
    __m128i odd = _mm_mul_epu32(_mm_shuffle_epi32((__m128i)a, 0xf5), (__m128i)b);
    return (products){_mm_castsi128_ps(even), _mm_castsi128_ps(odd)};
}

/* The two lanes in the middle change places, which is left so: the next one undoes it. */
static inline __attribute__((always_inline)) vector multiply(vector a, vector b) {
    products all = multiply_all(a, b);
    return (vector)_mm_castps_si128(_mm_shuffle_ps(all.even, all.odd, 0x88));
}

static inline __attribute__((always_inline)) vector multiply_high(vector a, vector b) {
    products all = multiply_all(a, b);
    __m128i high = _mm_castps_si128(_mm_shuffle_ps(all.even, all.odd, 0xdd));
    return (vector)_mm_shuffle_epi32(high, 0xd8);
}

static inline __attribute__((always_inline)) vector wrap(vector d, vector b) {
    return d + ((vector)_mm_srai_epi32((__m128i)d, 31) & b);
}

#include "order/rounds_body.inc"

const rounds_path rounds_sse2 = {forward, backward};
#endif
