/* Random numbers of a run: a few independent streams, all functions of its seed. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_RANDOM_H
#define RECMAP_TESTS_SIMULATION_WORLD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* splitmix64: each state gives one number. */
static inline uint64_t random_mix(uint64_t state) {
    state += 0x9e3779b97f4a7c15u;
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
    state = (state ^ state >> 27) * 0x94d049bb133111ebu;
    return state ^ state >> 31;
}

struct random_stream {
    uint64_t state;
};

/* Streams with different names are independent. */
static inline struct random_stream random_stream(uint64_t seed, uint64_t name) {
    return (struct random_stream){random_mix(random_mix(seed) ^ name)};
}

static inline uint64_t random_next(struct random_stream *stream) {
    return random_mix(stream->state += 0x632be59bd9b4e019u);
}

static inline uint64_t random_below(struct random_stream *stream, uint64_t limit) {
    return limit ? random_next(stream) % limit : 0;
}

static inline uint64_t random_between(struct random_stream *stream, uint64_t min, uint64_t max) {
    return min + random_below(stream, max - min + 1);
}

/* True once in `count` times. */
static inline bool random_once_in(struct random_stream *stream, uint64_t count) {
    return random_below(stream, count) == 0;
}

/* A number from 1 to about `max`, small ones as often as large ones. */
static inline uint64_t random_scale(struct random_stream *stream, uint64_t max) {
    unsigned bits = 0;
    while (bits < 63 && max >> (bits + 1)) bits++;
    uint64_t top = (uint64_t)1 << random_below(stream, bits + 1);
    return top + random_below(stream, top);
}

#endif
