/* The identity of a shard: its hash knows every boundary, check and the size; its samples are
 * spread over it, at most 32, whatever the number of records. */
#include "index/tables/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"

struct entry {
    uint64_t offset, size;
    uint32_t check;
};

static struct shard_identity identify(const struct entry *entries, size_t count, uint64_t size) {
    struct identity_builder *builder = identity_create();
    assert_non_null(builder);
    identity_reset(builder);
    identity_add(builder, 1, 2, 3); /* of another shard */
    identity_reset(builder);
    for (size_t i = 0; i < count; i++)
        identity_add(builder, entries[i].offset, entries[i].size, entries[i].check);
    struct shard_identity made = identity_finish(builder, size);
    identity_destroy(builder);
    return made;
}

enum { LIMIT = 5000 };

static void fill(struct entry *entries, struct rng *random) {
    uint64_t at = 0;
    for (size_t i = 0; i < LIMIT; i++) {
        entries[i] = (struct entry){at, rng_below(random, 1000), (uint32_t)rng_next(random)};
        at += entries[i].size + 16;
    }
}

/* Checks of records 0, step, 2 step, ...: all that there are. */
static void test_samples_are_evenly_spread(void **state) {
    (void)state;
    static struct entry entries[LIMIT];
    struct rng random = {1};
    fill(entries, &random);
    for (size_t count = 0; count <= LIMIT; count += count < 300 ? 1 : 97) {
        struct shard_identity made = identify(entries, count, 99);
        assert_true(made.sample_count <= IDENTITY_SAMPLES_MAX);
        assert_true(made.sample_count >= (count < 17 ? count : 17));
        assert_int_equal(made.sample_count, (count + made.sample_step - 1) / made.sample_step);
        for (size_t i = 0; i < made.sample_count; i++)
            assert_int_equal(made.samples[i], entries[i * made.sample_step].check);
    }
}

static void assert_other(const struct shard_identity *a, const struct shard_identity *b) {
    assert_memory_not_equal(a->hash, b->hash, IDENTITY_HASH_SIZE);
}

/* Changes one property at a time: the shard's size, the number of records, and the offset, size or
 * check of a random record. Each change must change the hash. */
static void test_hash_knows_all(void **state) {
    (void)state;
    static struct entry entries[LIMIT];
    struct rng random = {2};
    fill(entries, &random);
    for (int round = 0; round < 200; round++) {
        size_t count = 1 + (size_t)rng_below(&random, 600);
        size_t changed = (size_t)rng_below(&random, count);
        struct shard_identity made = identify(entries, count, 1000000), again, other;
        again = identify(entries, count, 1000000);
        assert_memory_equal(made.hash, again.hash, IDENTITY_HASH_SIZE);
        other = identify(entries, count, 1000001);
        assert_other(&made, &other);
        other = identify(entries, count - 1, 1000000);
        assert_other(&made, &other);
        entries[changed].offset ^= 1;
        other = identify(entries, count, 1000000);
        assert_other(&made, &other);
        entries[changed].offset ^= 1;
        entries[changed].size ^= 1 << 20;
        other = identify(entries, count, 1000000);
        assert_other(&made, &other);
        entries[changed].size ^= 1 << 20;
        entries[changed].check ^= 0x80000000;
        other = identify(entries, count, 1000000);
        assert_other(&made, &other);
        entries[changed].check ^= 0x80000000;
    }
}

static void test_fingerprint_knows_order(void **state) {
    (void)state;
    uint8_t hashes[48], turned[48], a[16], b[16];
    for (size_t i = 0; i < 48; i++) hashes[i] = (uint8_t)(i * 37);
    memcpy(turned, hashes + 16, 16);
    memcpy(turned + 16, hashes, 16);
    memcpy(turned + 32, hashes + 32, 16);
    identity_fingerprint(a, hashes, 3);
    identity_fingerprint(b, turned, 3);
    assert_memory_not_equal(a, b, 16);
    identity_fingerprint(b, hashes, 2);
    assert_memory_not_equal(a, b, 16);
    identity_fingerprint(b, hashes, 3);
    assert_memory_equal(a, b, 16);
    identity_fingerprint(a, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_evenly_spread),
        cmocka_unit_test(test_hash_knows_all),
        cmocka_unit_test(test_fingerprint_knows_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
