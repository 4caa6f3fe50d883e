/* Random numbers that a seed repeats: splitmix64. */
#ifndef RECMAP_TESTS_SUPPORT_RANDOM_H
#define RECMAP_TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number in [0, limit); 0 for a limit of 0. */
static inline uint64_t rng_below(struct rng *random, uint64_t limit) {
    return limit ? rng_next(random) % limit : 0;
}

static inline bool rng_one_in(struct rng *random, uint64_t n) {
    return rng_below(random, n) == 0;
}

/* Small numbers most often, large ones now and then: up to 2^bits. */
static inline uint64_t rng_skewed(struct rng *random, unsigned bits) {
    return rng_next(random) >> (64 - 1 - rng_below(random, bits));
}

#endif
