#include "base/permutation/random.h"

#include "base/permutation/wide.h"

/* The increment of SplitMix64 (Steele, Lea, Flood 2014): 2^64 over the golden ratio. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The finaliser of SplitMix64. */
static inline uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t random_state(uint64_t seed, uint64_t epoch, uint64_t stream, uint64_t n) {
    const uint64_t words[] = {seed, epoch, stream, n};
    uint64_t state = 0;
    for (int i = 0; i < 4; i++) state = mix((state ^ words[i]) + GOLDEN);
    return state;
}

uint64_t random_word(uint64_t state, uint64_t index) {
    return mix(state + (index + 1) * GOLDEN);
}

uint64_t random_below(uint64_t word, uint64_t n) {
    struct wide product = wide_multiply(word, n);
    if (product.low >= n) return product.high;
    /* 2^64 mod n of the words are one too many for some numbers: those are drawn again. */
    uint64_t surplus = (0 - n) % n;
    for (uint64_t i = 0; product.low < surplus; i++)
        product = wide_multiply(random_word(word, i), n);
    return product.high;
}
