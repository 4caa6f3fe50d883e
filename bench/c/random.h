/* Random numbers that are the same everywhere: splitmix64. */
#ifndef RECMAP_BENCH_C_RANDOM_H
#define RECMAP_BENCH_C_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Evenly in [0, limit), limit below 2^32. */
static inline uint64_t random_below(uint64_t *state, uint64_t limit) {
    return (random_next(state) >> 32) * limit >> 32;
}

/* Nearly normal, mean 0, sigma 1, never beyond 6: a sum of twelve even ones. */
static inline double random_normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)(random_next(state) >> 11) / 9007199254740992.0;
    return sum;
}

#endif
