/* Packed element counts: every width comes back, in the promised size; forged bytes are refused or
 * read inside the chunk. */
#include "index/tables/count_chunk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/buffer.h"

/* Packs in memory of exactly the size it takes, which the caller frees. */
static uint8_t *pack(size_t *size, const uint64_t *counts, size_t count) {
    uint8_t *room = must_realloc(NULL, count_chunk_capacity(count));
    *size = count_chunk_pack(room, counts, count);
    assert_true(*size <= count_chunk_capacity(count));
    uint8_t *packed = must_realloc(NULL, *size);
    memcpy(packed, room, *size);
    free(room);
    return packed;
}

static void check_round_trip(const uint64_t *counts, size_t count) {
    size_t size;
    uint8_t *packed = pack(&size, counts, count);
    struct count_chunk chunk;
    assert_true(count_chunk_open(&chunk, packed, size, count));
    for (size_t i = 0; i < count; i++) assert_int_equal(count_chunk_at(&chunk, i), counts[i]);
    free(packed);
}

/* Random counts of every width, in chunks that end anywhere in a block. */
static void test_counts_survive_a_round_trip(void **state) {
    (void)state;
    static uint64_t counts[3000];
    struct rng random = {1};
    for (unsigned bits = 0; bits <= 62; bits++) {
        size_t count = 1 + (size_t)rng_below(&random, 3000);
        uint64_t base = rng_one_in(&random, 2) && bits < 62 ? (uint64_t)1 << 61 : 0;
        for (size_t i = 0; i < count; i++)
            counts[i] = base + (bits ? rng_next(&random) >> (64 - bits) : 0);
        check_round_trip(counts, count);
    }
}

static void test_counts_at_the_limits_are_packed(void **state) {
    (void)state;
    const uint64_t counts[] = {0, RECMAP_COUNTS_MAX, 1, RECMAP_COUNTS_MAX - 1, 0};
    check_round_trip(counts, 0);
    check_round_trip(counts, 1);
    check_round_trip(counts, 5);
}

/* The sizes that the format promises: a directory entry per block, and bits for what differs. */
static void test_chunks_have_the_specified_sizes(void **state) {
    (void)state;
    enum { COUNT = COUNT_CHUNK_RECORDS };
    uint64_t *counts = must_realloc(NULL, COUNT * sizeof *counts);
    size_t size;
    for (size_t i = 0; i < COUNT; i++) counts[i] = 4096;
    free(pack(&size, counts, COUNT));
    assert_int_equal(size, COUNT / 8 + 8);
    for (size_t i = 0; i < COUNT; i++) counts[i] = 4096 + i % 2;
    free(pack(&size, counts, COUNT));
    assert_int_equal(size, COUNT / 8 + COUNT / 8 + 8);
    for (size_t i = 0; i < COUNT; i++) counts[i] = 100 + i % 128 * 64;
    free(pack(&size, counts, COUNT));
    assert_int_equal(size, COUNT / 8 + COUNT * 13 / 8 + 8);
    free(counts);
}

/* A chunk is refused for every other size and number of blocks, and with any field of the directory
 * pointing outside. */
static void test_malformed_chunks_are_refused(void **state) {
    (void)state;
    uint64_t counts[300];
    size_t size;
    struct count_chunk chunk;
    for (size_t i = 0; i < 300; i++) counts[i] = i * 7;
    uint8_t *packed = pack(&size, counts, 300);
    for (size_t less = 1; less <= size; less++)
        assert_false(count_chunk_open(&chunk, packed, size - less, 300));
    assert_false(count_chunk_open(&chunk, packed, size, 300 + 128));
    assert_true(count_chunk_open(&chunk, packed, size, 300));
    static const uint32_t widths[] = {57, 63, 65, 256, UINT32_MAX}, starts[] = {60, UINT32_MAX};
    uint32_t kept = load32(packed + 12);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        store32(packed + 12, widths[i]);
        assert_false(count_chunk_open(&chunk, packed, size, 300));
    }
    store32(packed + 12, kept);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        store32(packed + 8, starts[i]);
        assert_false(count_chunk_open(&chunk, packed, size, 300));
    }
    free(packed);
}

/* Bytes that change after the chunk was opened give wrong counts, but nothing outside the chunk is
 * read: the sanitizer would see it. */
static void test_changed_bytes_are_not_followed_outside(void **state) {
    (void)state;
    uint64_t counts[256];
    struct rng random = {2};
    for (size_t i = 0; i < 256; i++) counts[i] = rng_below(&random, 5000);
    for (int round = 0; round < 2000; round++) {
        size_t size;
        struct count_chunk chunk;
        uint8_t *packed = pack(&size, counts, 256);
        assert_true(count_chunk_open(&chunk, packed, size, 256));
        for (int i = 0; i < 3; i++) packed[rng_below(&random, 40)] = (uint8_t)rng_next(&random);
        for (size_t i = 0; i < 256; i++) (void)count_chunk_at(&chunk, i);
        free(packed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_survive_a_round_trip),
        cmocka_unit_test(test_counts_at_the_limits_are_packed),
        cmocka_unit_test(test_chunks_have_the_specified_sizes),
        cmocka_unit_test(test_malformed_chunks_are_refused),
        cmocka_unit_test(test_changed_bytes_are_not_followed_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
