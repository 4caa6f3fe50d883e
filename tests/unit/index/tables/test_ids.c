/* Packed ids: pairs come back, and the search by interpolation equals a plain one, also where
 * hashes are not uniform or not even in order. */
#include "index/tables/ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"

static const uint64_t HASH_LIMIT = (uint64_t)1 << 48;

static uint64_t draw_hash(int kind, struct rng *random) {
    switch (kind) {
    case 0: return rng_below(random, HASH_LIMIT);
    case 1: return 77;
    case 2: return HASH_LIMIT - 1 - rng_below(random, 3);
    case 3: return rng_one_in(random, 2) ? rng_below(random, 10) : HASH_LIMIT - 1;
    case 4: return rng_skewed(random, 48);
    case 5: return (uint64_t)1 << rng_below(random, 48);
    default: return rng_below(random, 20) << 40;
    }
}

static int compare(const void *a, const void *b) {
    const struct id_pair *one = a, *other = b;
    if (one->hash != other->hash) return one->hash < other->hash ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* The chunk in memory of exactly its size. */
static struct ids_chunk pack(const struct id_pair *pairs, size_t count, unsigned number_size) {
    size_t size = ids_packed_size(count, number_size);
    uint8_t *packed = must_realloc(NULL, size);
    ids_pack(packed, pairs, count, number_size);
    return (struct ids_chunk){packed, count, number_size};
}

static void check_search(const struct ids_chunk *chunk, const struct id_pair *pairs,
                         uint64_t hash) {
    size_t due = 0;
    while (due < chunk->pair_count && pairs[due].hash < hash) due++;
    assert_int_equal(ids_lower_bound(chunk, hash), due);
    for (size_t start = 0; start <= chunk->pair_count; start += 1 + chunk->pair_count / 7)
        assert_int_equal(ids_lower_bound_near(chunk, start, hash), due);
    assert_int_equal(ids_lower_bound_near(chunk, chunk->pair_count, hash), due);
}

/* Packs random pairs, whose hashes are distributed as `kind` says, reads them all back, and
 * searches for hashes that are there, next to one that is, and anywhere in the range. */
static void check_chunk(size_t count, int kind, unsigned number_size, struct rng *random) {
    struct id_pair *pairs = must_realloc(NULL, count * sizeof *pairs);
    for (size_t i = 0; i < count; i++)
        pairs[i] =
            (struct id_pair){draw_hash(kind, random), rng_next(random) >> (64 - 8 * number_size)};
    qsort(pairs, count, sizeof *pairs, compare);
    struct ids_chunk chunk = pack(pairs, count, number_size);
    for (size_t i = 0; i < count; i++) {
        struct id_pair found = ids_at(&chunk, i);
        assert_int_equal(found.hash, pairs[i].hash);
        assert_int_equal(found.number, pairs[i].number);
    }
    for (int i = 0; i < 60; i++) {
        uint64_t near = count ? pairs[rng_below(random, count)].hash : 5;
        check_search(&chunk, pairs, near);
        check_search(&chunk, pairs, near + 1);
        check_search(&chunk, pairs, near ? near - 1 : 0);
        check_search(&chunk, pairs, rng_below(random, HASH_LIMIT));
    }
    check_search(&chunk, pairs, 0);
    check_search(&chunk, pairs, HASH_LIMIT - 1);
    free((void *)chunk.pairs);
    free(pairs);
}

static void test_pairs_and_search(void **state) {
    (void)state;
    struct rng random = {1};
    int rounds = is_long() ? 400 : 10;
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < 7; kind++)
            for (unsigned number_size = 1; number_size <= 8; number_size++)
                check_chunk((size_t)rng_skewed(&random, 12), kind, number_size, &random);
    check_chunk(IDS_CHUNK_PAIRS, 0, 4, &random);
}

/* Damaged order costs time, never a read outside or an endless loop. */
static void test_search_without_order(void **state) {
    (void)state;
    struct rng random = {2};
    for (int round = 0; round < 2000; round++) {
        size_t count = (size_t)rng_below(&random, 400);
        struct id_pair *pairs = must_realloc(NULL, count * sizeof *pairs);
        for (size_t i = 0; i < count; i++)
            pairs[i] = (struct id_pair){draw_hash(round % 7, &random), 1};
        struct ids_chunk chunk = pack(pairs, count, 1);
        for (int i = 0; i < 20; i++) {
            uint64_t hash = draw_hash(i % 7, &random);
            assert_true(ids_lower_bound(&chunk, hash) <= count);
            assert_true(ids_lower_bound_near(&chunk, rng_below(&random, count + 1), hash) <= count);
        }
        free((void *)chunk.pairs);
        free(pairs);
    }
}

/* The last count that still fits into a number of bytes, and the first that does not. */
static void test_numbers_take_as_few_bytes_as_fit(void **state) {
    (void)state;
    static const struct {
        uint64_t count;
        unsigned due;
    } cases[] = {
        {0, 1},
        {1, 1},
        {256, 1},
        {257, 2},
        {65536, 2},
        {65537, 3},
        {1 << 24, 3},
        {(1 << 24) + 1, 4},
        {(uint64_t)1 << 32, 4},
        {((uint64_t)1 << 32) + 1, 5},
        {(uint64_t)1 << 62, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ids_number_size(cases[i].count), cases[i].due);
}

/* Hashes have 48 bits and tell types apart: the text of an int64's bytes is another id. */
static void test_hashes_tell_types_apart(void **state) {
    (void)state;
    recmap_value number = int64_value(0x6867666564636261), text = text_value("abcdefgh");
    assert_true(id_hash(&number) != id_hash(&text));
    assert_true(id_hash(&number) < HASH_LIMIT && id_hash(&text) < HASH_LIMIT);
    recmap_value empty = text_value("");
    recmap_value none = {.type = RECMAP_TYPE_BYTES};
    assert_int_equal(id_hash(&empty), id_hash(&none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_and_search),
        cmocka_unit_test(test_search_without_order),
        cmocka_unit_test(test_numbers_take_as_few_bytes_as_fit),
        cmocka_unit_test(test_hashes_tell_types_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
