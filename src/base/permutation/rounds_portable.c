#include "base/permutation/rounds.h"

/* A vector of one number: the loops over a block are plain C, which compilers vectorise for the
 * target. */
#define TARGET
typedef uint32_t vector;

static inline vector broadcast(uint32_t x) {
    return x;
}

typedef int shift_count;

static inline shift_count shift_by(unsigned n) {
    return (int)n;
}

static inline vector multiply(vector a, vector b) {
    return a * b;
}

static inline vector multiply_high(vector a, vector b) {
    return (vector)(((uint64_t)a * b) >> 32);
}

static inline vector wrap(vector d, vector b) {
    return d + ((0 - (d >> 31)) & b);
}

#include "base/permutation/rounds_body.inc"

const struct rounds_path rounds_portable = {forward, backward};
