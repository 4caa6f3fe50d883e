/* Packed offsets: what goes in comes out, whatever the distances; forged bytes are refused or read
 * inside. */
#include "index/tables/offsets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/buffer.h"
#include "support/folder.h"

/* Lines may run below zero, which wraps. */
static uint64_t distance(uint64_t a, uint64_t b) {
    return a - b < b - a ? a - b : b - a;
}

/* The offset by itself, with its neighbour, and guessed. */
static void check_one(const struct offsets_chunk *chunk, const uint64_t *offsets, size_t i,
                      size_t count) {
    if (offsets_at(chunk, i) != offsets[i])
        fail_msg("offset %zu of %zu: %llu, %llu due", i, count,
                 (unsigned long long)offsets_at(chunk, i), (unsigned long long)offsets[i]);
    uint64_t offset, next, error, guessed = offsets_guess(&error, chunk, i);
    assert_true(distance(guessed, offsets[i]) <= error);
    assert_int_equal(offsets_ends_block(i), i % 128 == 127);
    if (offsets_ends_block(i) || i + 1 == count) return;
    offsets_pair_at(&offset, &next, chunk, i);
    assert_true(offset == offsets[i] && next == offsets[i + 1]);
}

/* Packs, in memory of exactly the size that was promised to do, and reads all of it back. */
static size_t check_round_trip(const uint64_t *offsets, const uint32_t *shards, size_t count) {
    uint8_t *packed = must_realloc(NULL, offsets_capacity(count));
    size_t size = offsets_pack(packed, offsets, shards, count);
    assert_true(size <= offsets_capacity(count));
    uint8_t *exact = must_copy(packed, size);
    free(packed);
    struct offsets_chunk chunk;
    assert_true(offsets_open(&chunk, exact, size, count));
    for (size_t i = 0; i < count; i++) {
        check_one(&chunk, offsets, i, count);
        assert_int_equal(offsets_shard_hint(&chunk, i), shards[i & ~(size_t)127]);
    }
    for (size_t less = 1; less <= size && less < 40; less++)
        assert_false(offsets_open(&chunk, exact, size - less, count));
    free(exact);
    return size;
}

/* Ascending offsets whose steps are drawn by `kind`. */
static void fill(uint64_t *offsets, uint32_t *shards, size_t count, int kind, struct rng *random) {
    uint64_t at = rng_one_in(random, 2) ? 0 : rng_below(random, (uint64_t)1 << 61);
    uint32_t shard = 0;
    for (size_t i = 0; i < count; i++) {
        offsets[i] = at;
        shards[i] = shard;
        uint64_t step = 1;
        switch (kind) {
        case 0: step = 240; break;
        case 1: step = 16 + rng_below(random, 100000); break;
        case 2: step = 1 + rng_skewed(random, 40); break;
        case 3: step = rng_one_in(random, 100) ? (uint64_t)1 << 50 : 20; break;
        case 4: step = i == count / 2 ? ((uint64_t)1 << 61) + 5 : 16; break;
        default: break;
        }
        if (at + step < at || (at + step) >> 62) step = 1;
        at += step;
        if (rng_one_in(random, 50)) shard++;
    }
}

static void test_offsets_survive_a_round_trip(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 3, 127, 128, 129, 255, 256, 257, 1000, 4096};
    uint64_t *offsets = must_realloc(NULL, OFFSETS_CHUNK_RECORDS * sizeof *offsets);
    uint32_t *shards = must_realloc(NULL, OFFSETS_CHUNK_RECORDS * sizeof *shards);
    struct rng random = {1};
    int rounds = is_long() ? 300 : 6;
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < 6; kind++) {
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                fill(offsets, shards, counts[c], kind, &random);
                check_round_trip(offsets, shards, counts[c]);
            }
        }
    fill(offsets, shards, OFFSETS_CHUNK_RECORDS, 2, &random);
    check_round_trip(offsets, shards, OFFSETS_CHUNK_RECORDS);
    free(offsets);
    free(shards);
}

/* Every width of residuals, also those that no data set has. */
static void test_residuals_of_every_width_read_back(void **state) {
    (void)state;
    uint64_t offsets[128];
    uint32_t shards[128] = {0};
    for (unsigned width = 0; width < 62; width++) {
        for (size_t i = 0; i < 128; i++) offsets[i] = i;
        for (size_t i = 64; i < 128; i++) offsets[i] += ((uint64_t)1 << width) - 1;
        check_round_trip(offsets, shards, 128);
    }
}

/* Equal lengths need half a byte a record at most; image-like ones three. */
static void test_offsets_take_few_bytes(void **state) {
    (void)state;
    uint64_t *offsets = must_realloc(NULL, OFFSETS_CHUNK_RECORDS * sizeof *offsets);
    uint32_t *shards = calloc(OFFSETS_CHUNK_RECORDS, sizeof *shards);
    for (size_t i = 0; i < OFFSETS_CHUNK_RECORDS; i++) offsets[i] = i * 256;
    assert_true(check_round_trip(offsets, shards, OFFSETS_CHUNK_RECORDS) * 2 <=
                OFFSETS_CHUNK_RECORDS);
    struct rng random = {2};
    uint64_t at = 0;
    for (size_t i = 0; i < OFFSETS_CHUNK_RECORDS; i++) {
        offsets[i] = at;
        at += 60000 + rng_below(&random, 100000);
    }
    assert_true(check_round_trip(offsets, shards, OFFSETS_CHUNK_RECORDS) <=
                3 * OFFSETS_CHUNK_RECORDS);
    free(offsets);
    free(shards);
}

static uint64_t read_all_ways(const struct offsets_chunk *chunk, size_t i) {
    uint64_t error, offset = 0, next = 0;
    if (!offsets_ends_block(i)) offsets_pair_at(&offset, &next, chunk, i);
    return offsets_at(chunk, i) + offsets_guess(&error, chunk, i) + offset + next;
}

/* Flipped bytes are refused, or give some numbers: a sanitizer watches the memory. */
static void test_flipped_bytes_are_read_safely(void **state) {
    (void)state;
    struct rng random = {3};
    volatile uint64_t sum = 0;
    int rounds = is_long() ? 200000 : 8000;
    for (int round = 0; round < rounds; round++) {
        uint64_t offsets[300];
        uint32_t shards[300];
        size_t count = 1 + (size_t)rng_below(&random, 300);
        fill(offsets, shards, count, round % 6, &random);
        uint8_t *packed = must_realloc(NULL, offsets_capacity(count));
        size_t size = offsets_pack(packed, offsets, shards, count);
        size_t head = (count + 127) / 128 * OFFSETS_ENTRY_SIZE;
        for (uint64_t i = rng_below(&random, 4); i < 4; i++)
            packed[rng_below(&random, i & 1 ? head : size)] = (uint8_t)rng_next(&random);
        if (rng_one_in(&random, 4)) size -= (size_t)rng_below(&random, size);
        uint8_t *exact = must_copy(packed, size);
        struct offsets_chunk chunk;
        if (offsets_open(&chunk, exact, size, count))
            for (size_t i = 0; i < count; i++) sum += read_all_ways(&chunk, i);
        free(exact);
        free(packed);
    }
    (void)sum;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets_survive_a_round_trip),
        cmocka_unit_test(test_residuals_of_every_width_read_back),
        cmocka_unit_test(test_offsets_take_few_bytes),
        cmocka_unit_test(test_flipped_bytes_are_read_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
