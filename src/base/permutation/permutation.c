#include "base/permutation/permutation.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/core/bytes.h"
#include "base/permutation/random.h"
#include "base/permutation/rounds.h"

static void shuffle_table(struct permutation *permutation, uint64_t state) {
    for (uint32_t i = 0; i < permutation->n; i++) {
        uint32_t j = (uint32_t)(((random_word(state, i) >> 32) * (i + 1)) >> 32);
        permutation->table[i] = permutation->table[j];
        permutation->table[j] = (uint8_t)i;
    }
}

void permutation_init(struct permutation *permutation, uint64_t n, uint64_t seed, uint64_t epoch,
                      uint64_t stream) {
    uint64_t state = random_state(seed, epoch, stream, n);
    permutation->n = n;
    permutation->k = 0;
    permutation->b = 0;
    if (n <= PERMUTATION_TABLE_MAX) {
        shuffle_table(permutation, state);
        return;
    }
    permutation->k = bit_length(n - 1) / 2;
    uint64_t a = (uint64_t)1 << permutation->k;
    permutation->b = (uint32_t)((n + a - 1) >> permutation->k);
    for (int i = 0; i < PERMUTATION_ROUNDS; i++) {
        uint64_t key = random_word(state, (uint64_t)i);
        permutation->key_low[i] = (uint32_t)key;
        permutation->key_high[i] = (uint32_t)(key >> 32);
    }
}

static inline uint32_t scramble(uint32_t x, uint32_t key_low, uint32_t key_high) {
    x ^= key_low;
    x ^= x >> 16;
    x *= ROUNDS_MULTIPLIER_1;
    x ^= x >> 15;
    x += key_high;
    x *= ROUNDS_MULTIPLIER_2;
    return x ^ x >> 16;
}

/* What a round adds to the other half: a value below b, or below 2^k. */
static inline uint32_t high_step(const struct permutation *permutation, int round, uint32_t low) {
    uint32_t f = scramble(low, permutation->key_low[round], permutation->key_high[round]);
    return (uint32_t)(((uint64_t)f * permutation->b) >> 32);
}

static inline uint32_t low_step(const struct permutation *permutation, int round, uint32_t high) {
    return scramble(high, permutation->key_low[round], permutation->key_high[round]) >>
           (32 - permutation->k);
}

static inline uint64_t forward_one(const struct permutation *permutation, uint64_t x) {
    const uint32_t mask = ((uint32_t)1 << permutation->k) - 1, b = permutation->b;
    uint32_t high = (uint32_t)(x >> permutation->k), low = (uint32_t)x & mask;
    for (int round = 0; round < PERMUTATION_ROUNDS; round += 2) {
        uint32_t sum = high + high_step(permutation, round, low);
        high = sum >= b ? sum - b : sum;
        low = (low + low_step(permutation, round + 1, high)) & mask;
    }
    return (uint64_t)high << permutation->k | low;
}

static inline uint64_t backward_one(const struct permutation *permutation, uint64_t x) {
    const uint32_t mask = ((uint32_t)1 << permutation->k) - 1, b = permutation->b;
    uint32_t high = (uint32_t)(x >> permutation->k), low = (uint32_t)x & mask;
    for (int round = PERMUTATION_ROUNDS - 2; round >= 0; round -= 2) {
        low = (low - low_step(permutation, round + 1, high)) & mask;
        uint32_t step = high_step(permutation, round, low);
        high = high >= step ? high - step : high + b - step;
    }
    return (uint64_t)high << permutation->k | low;
}

static const struct rounds_path *const paths[PERMUTATION_PATH_COUNT] = {
    [PERMUTATION_PORTABLE] = &rounds_portable,
#ifdef ROUNDS_X86
    [PERMUTATION_AVX2] = &rounds_avx2,
    [PERMUTATION_AVX512] = &rounds_avx512,
#endif
#ifdef ROUNDS_NEON
    [PERMUTATION_NEON] = &rounds_neon,
#endif
};

static bool path_is_there(enum permutation_path path) {
    switch (path) {
#ifdef ROUNDS_X86
    case PERMUTATION_AVX512: return __builtin_cpu_supports("avx512f");
    case PERMUTATION_AVX2: return __builtin_cpu_supports("avx2");
#endif
#ifdef ROUNDS_NEON
    case PERMUTATION_NEON: return true;
#endif
    default: return path == PERMUTATION_PORTABLE;
    }
}

enum permutation_path permutation_best(void) {
    enum permutation_path path = PERMUTATION_PATH_COUNT - 1;
    while (!path_is_there(path)) path--;
    return path;
}

/* The forced path plus one; 0: use the best. */
static atomic_int forced;

bool permutation_force(enum permutation_path path) {
    if (!path_is_there(path)) return false;
    atomic_store(&forced, (int)path + 1);
    return true;
}

static const struct rounds_path *choose_path(void) {
    int path = atomic_load_explicit(&forced, memory_order_relaxed);
    return paths[path ? path - 1 : (int)permutation_best()];
}

const char *permutation_path_name(enum permutation_path path) {
    static const char *const names[] = {"portable", "NEON", "AVX2", "AVX-512"};
    return names[path];
}

/* The rounds in one direction: for blocks of values, and for a single one. */
struct direction {
    rounds_function *run;
    uint64_t (*run_one)(const struct permutation *permutation, uint64_t value);
};

/* For fewer values the scalar code is faster. */
enum { FEW = 4 };

/* Values at or above n after the rounds: the rounds are applied to them again (cycle walking). They
 * are few (5.8 % at n = 257, 0.1 % at a million), so they are collected from several blocks to be
 * processed together. */
enum { WALKERS_ENOUGH = ROUNDS_BLOCK / 2 };
struct walkers {
    size_t count;
    uint64_t values[WALKERS_ENOUGH + ROUNDS_BLOCK];
    size_t places[WALKERS_ENOUGH + ROUNDS_BLOCK];
};

static void add_walkers(struct walkers *walkers, const struct permutation *permutation,
                        const uint64_t *values, size_t first, size_t count) {
    size_t left = walkers->count;
    for (size_t i = first; i < first + count; i++) {
        walkers->values[left] = values[i];
        walkers->places[left] = i;
        left += values[i] >= permutation->n;
    }
    walkers->count = left;
}

static void step(const struct permutation *permutation, const struct direction *direction,
                 uint64_t *values, size_t count) {
    if (count < FEW) {
        for (size_t i = 0; i < count; i++) values[i] = direction->run_one(permutation, values[i]);
        return;
    }
    for (size_t i = 0; i < count; i += ROUNDS_BLOCK) {
        size_t here = count - i < ROUNDS_BLOCK ? count - i : ROUNDS_BLOCK;
        direction->run(permutation, values + i, values + i, here);
    }
}

/* Applies the rounds until all collected values are below n. */
static void walk(uint64_t *out, const struct permutation *permutation,
                 const struct direction *direction, struct walkers *walkers) {
    while (walkers->count) {
        step(permutation, direction, walkers->values, walkers->count);
        size_t left = 0;
        for (size_t i = 0; i < walkers->count; i++) {
            uint64_t value = walkers->values[i];
            out[walkers->places[i]] = value;
            walkers->values[left] = value;
            walkers->places[left] = walkers->places[i];
            left += value >= permutation->n;
        }
        walkers->count = left;
    }
}

static void run_all(uint64_t *out, const struct permutation *permutation,
                    const struct direction *direction, const uint64_t *source, size_t count) {
    struct walkers walking;
    walking.count = 0;
    for (size_t i = 0; i < count; i += ROUNDS_BLOCK) {
        size_t here = count - i < ROUNDS_BLOCK ? count - i : ROUNDS_BLOCK;
        if (direction->run(permutation, out + i, source + i, here))
            add_walkers(&walking, permutation, out, i, here);
        if (walking.count >= WALKERS_ENOUGH) walk(out, permutation, direction, &walking);
    }
    walk(out, permutation, direction, &walking);
}

uint64_t permutation_at_one(const struct permutation *permutation, uint64_t position) {
    assert(position < permutation->n);
    if (permutation->n <= PERMUTATION_TABLE_MAX) return permutation->table[position];
    do position = forward_one(permutation, position);
    while (position >= permutation->n);
    return position;
}

uint64_t permutation_inverse_one(const struct permutation *permutation, uint64_t number) {
    assert(number < permutation->n);
    if (permutation->n <= PERMUTATION_TABLE_MAX) {
        uint64_t position = 0;
        while (permutation->table[position] != number) position++;
        return position;
    }
    do number = backward_one(permutation, number);
    while (number >= permutation->n);
    return number;
}

void permutation_at(const struct permutation *permutation, uint64_t *numbers,
                    const uint64_t *positions, size_t count) {
    if (permutation->n <= PERMUTATION_TABLE_MAX || count < FEW) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = permutation_at_one(permutation, positions[i]);
        return;
    }
    const struct direction forward = {choose_path()->forward, forward_one};
    run_all(numbers, permutation, &forward, positions, count);
}

void permutation_inverse(const struct permutation *permutation, uint64_t *positions,
                         const uint64_t *numbers, size_t count) {
    if (count < FEW) {
        for (size_t i = 0; i < count; i++)
            positions[i] = permutation_inverse_one(permutation, numbers[i]);
        return;
    }
    if (permutation->n > PERMUTATION_TABLE_MAX) {
        const struct direction backward = {choose_path()->backward, backward_one};
        run_all(positions, permutation, &backward, numbers, count);
        return;
    }
    uint8_t inverse[PERMUTATION_TABLE_MAX];
    for (uint32_t i = 0; i < permutation->n; i++) inverse[permutation->table[i]] = (uint8_t)i;
    for (size_t i = 0; i < count; i++) positions[i] = inverse[numbers[i]];
}
