/* A permutation of [0, n), keyed by seed, epoch and stream: computed, never stored.
 *
 * For n up to 256 it is a shuffled table. Above, it is an alternating Feistel network of twelve
 * rounds over Z_b x Z_2^k, with b * 2^k just above n, applied again until the value is below n
 * (cycle walking). docs/formats/order.md specifies it, with test vectors; what a seed gives never
 * changes. Pure. */
#ifndef RECMAP_BASE_PERMUTATION_PERMUTATION_H
#define RECMAP_BASE_PERMUTATION_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERMUTATION_TABLE_MAX = 256, PERMUTATION_ROUNDS = 12 };

/* The largest n. */
#define PERMUTATION_MAX ((uint64_t)1 << 62)

struct permutation {
    uint64_t n;
    unsigned k; /* bits of the low half */
    uint32_t b; /* values of the high half */
    uint32_t key_low[PERMUTATION_ROUNDS];
    uint32_t key_high[PERMUTATION_ROUNDS];
    uint8_t table[PERMUTATION_TABLE_MAX]; /* the permutation itself if n <= 256 */
};

/* Initialises the permutation of n <= PERMUTATION_MAX. Cost: less than a microsecond. */
void permutation_init(struct permutation *permutation, uint64_t n, uint64_t seed, uint64_t epoch,
                      uint64_t stream);

/* numbers[i] = p(positions[i]) for `count` positions below n. The arrays may be the same. */
void permutation_at(const struct permutation *permutation, uint64_t *numbers,
                    const uint64_t *positions, size_t count);

/* positions[i] such that p(positions[i]) = numbers[i]. The arrays may be the same. */
void permutation_inverse(const struct permutation *permutation, uint64_t *positions,
                         const uint64_t *numbers, size_t count);

/* The same for a single value. */
uint64_t permutation_at_one(const struct permutation *permutation, uint64_t position);
uint64_t permutation_inverse_one(const struct permutation *permutation, uint64_t number);

/* The implementations of the rounds, from the portable one to the fastest. */
enum permutation_path {
    PERMUTATION_PORTABLE,
    PERMUTATION_NEON,
    PERMUTATION_AVX2,
    PERMUTATION_AVX512,
    PERMUTATION_PATH_COUNT,
};

/* By default the best implementation that the CPU supports is used; tests and benchmarks can force
 * another. Returns false, and changes nothing, if this CPU or this build does not have it. */
bool permutation_force(enum permutation_path path);
enum permutation_path permutation_best(void);
const char *permutation_path_name(enum permutation_path path);

#endif
