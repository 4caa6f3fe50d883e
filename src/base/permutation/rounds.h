/* The rounds of a permutation, applied to blocks of values that are split into halves, and their
 * implementations. */
#ifndef RECMAP_BASE_PERMUTATION_ROUNDS_H
#define RECMAP_BASE_PERMUTATION_ROUNDS_H

#include "base/permutation/permutation.h"

/* Each pass of two rounds runs over a whole block, which stays in the first-level cache. Values do
 * not depend on each other, so the CPU can always work on several of them at once. */
enum { ROUNDS_BLOCK = 256 };

struct halves {
    _Alignas(64) uint32_t high[ROUNDS_BLOCK];
    _Alignas(64) uint32_t low[ROUNDS_BLOCK];
};

/* Splits `count` <= ROUNDS_BLOCK values into halves, applies all rounds, and joins the halves
 * again. Returns whether any result may be n or greater. */
typedef bool rounds_function(const struct permutation *permutation, uint64_t *out,
                             const uint64_t *source, size_t count);

struct rounds_path {
    rounds_function *forward, *backward;
};

/* The multipliers of the round function come from "lowbias32" (C. Wellons). */
#define ROUNDS_MULTIPLIER_1 0x7feb352du
#define ROUNDS_MULTIPLIER_2 0x846ca68bu

extern const struct rounds_path rounds_portable;

#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
#define ROUNDS_X86 1
extern const struct rounds_path rounds_avx2, rounds_avx512;
#endif
/* Every 64-bit ARM has NEON. */
#if defined(__AARCH64EL__) && !defined(RECMAP_PORTABLE)
#define ROUNDS_NEON 1
extern const struct rounds_path rounds_neon;
#endif

#endif
