/* The rounds on vectors: the body of each way's file, which says before it what a vector is.
 *
 * It defines TARGET (the processor's attribute), `vector` (of uint32_t, may alias; perhaps a single
 * number), `shift_count`, by which `>>` shifts all lanes of a vector, and five functions:
 * shift_by(n); broadcast(x); multiply(a, b), the low halves of the products, perhaps
 * with lanes swapped in such a way that twice is no swap; multiply_high(a, b), the high halves,
 * none swapped; wrap(d, b), d or, where d is below 0 as a signed number, d + b. */
#ifndef RECMAP_ORDER_ROUNDS_VECTOR_H
#define RECMAP_ORDER_ROUNDS_VECTOR_H

#include "order/rounds.h"

#define INLINE TARGET static inline __attribute__((always_inline))

enum { LANES = sizeof(vector) / sizeof(uint32_t) };

/* What two rounds need, out of the reach of stores into the block. */
typedef struct round_pair {
    vector b, mask, multiplier_1, multiplier_2;
    vector key_low[2], key_high[2];
    shift_count shift;
} round_pair;

INLINE round_pair prepare(const permutation *p, int round) {
    return (round_pair){
        .b = broadcast(p->b),
        .mask = broadcast(((uint32_t)1 << p->k) - 1),
        .multiplier_1 = broadcast(ROUNDS_MULTIPLIER_1),
        .multiplier_2 = broadcast(ROUNDS_MULTIPLIER_2),
        .key_low = {broadcast(p->key_low[round]), broadcast(p->key_low[round + 1])},
        .key_high = {broadcast(p->key_high[round]), broadcast(p->key_high[round + 1])},
        .shift = shift_by(32 - p->k),
    };
}

INLINE vector scramble(const round_pair *r, int which, vector x) {
    x ^= r->key_low[which];
    x ^= x >> 16;
    x = multiply(x, r->multiplier_1);
    x ^= x >> 15;
    x += r->key_high[which];
    x = multiply(x, r->multiplier_2);
    return x ^ x >> 16;
}

/* What a round adds to the other half: below b, and below 2^k. */
INLINE vector high_step(const round_pair *r, vector low) {
    return multiply_high(scramble(r, 0, low), r->b);
}

INLINE vector low_step(const round_pair *r, vector high) {
    return scramble(r, 1, high) >> r->shift;
}

INLINE void split(const permutation *p, halves *block, const uint64_t *from, size_t count) {
    const uint32_t mask = ((uint32_t)1 << p->k) - 1;
    const unsigned k = p->k;
    for (size_t i = 0; i < count; i++) {
        block->high[i] = (uint32_t)(from[i] >> k);
        block->low[i] = (uint32_t)from[i] & mask;
    }
    for (size_t i = count; i % LANES; i++) block->high[i] = block->low[i] = 0;
}

/* Only the largest high half can belong to values at n or above. */
INLINE bool join(const permutation *p, uint64_t *to, const halves *block, size_t count) {
    const uint32_t most = p->b - 1;
    const unsigned k = p->k;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        to[i] = (uint64_t)block->high[i] << k | block->low[i];
        found |= block->high[i] == most;
    }
    return found;
}

/* Two rounds over the block. A function of its own, so that no compiler merges the passes over the
 * block into one of long chains, which is a fifth slower. */
TARGET static __attribute__((noinline)) void pair_forward(const permutation *p, int round,
                                                          vector *high, vector *low, size_t count) {
    const round_pair r = prepare(p, round);
    for (size_t i = 0; i < count; i++) {
        vector h = wrap(high[i] + high_step(&r, low[i]) - r.b, r.b);
        low[i] = (low[i] + low_step(&r, h)) & r.mask;
        high[i] = h;
    }
}

TARGET static __attribute__((noinline)) void
pair_backward(const permutation *p, int round, vector *high, vector *low, size_t count) {
    const round_pair r = prepare(p, round);
    for (size_t i = 0; i < count; i++) {
        vector l = (low[i] - low_step(&r, high[i])) & r.mask;
        high[i] = wrap(high[i] - high_step(&r, l), r.b);
        low[i] = l;
    }
}

TARGET static bool forward(const permutation *p, uint64_t *to, const uint64_t *from, size_t count) {
    halves block;
    const size_t vectors = (count + LANES - 1) / LANES;
    split(p, &block, from, count);
    for (int round = 0; round < PERMUTATION_ROUNDS; round += 2)
        pair_forward(p, round, (vector *)block.high, (vector *)block.low, vectors);
    return join(p, to, &block, count);
}

TARGET static bool backward(const permutation *p, uint64_t *to, const uint64_t *from,
                            size_t count) {
    halves block;
    const size_t vectors = (count + LANES - 1) / LANES;
    split(p, &block, from, count);
    for (int round = PERMUTATION_ROUNDS - 2; round >= 0; round -= 2)
        pair_backward(p, round, (vector *)block.high, (vector *)block.low, vectors);
    return join(p, to, &block, count);
}

#endif
