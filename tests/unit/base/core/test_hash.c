/* The functions that choose their instructions when the program runs return the values of those
 * that do not, which index files depend on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <xxhash.h>

#include <cmocka.h>

static XXH64_hash_t plain_64(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

static XXH128_hash_t plain_128(const void *data, size_t size) {
    return XXH3_128bits(data, size);
}

/* From here on, XXH3_64bits and the others may be macros. */
#include "base/core/hash.h"
#include "support/folder.h"
#include "support/random.h"

enum { SKIPPED_MAX = 64, STREAMED_MAX = 3000 };

/* The hash of the same bytes, passed in pieces. */
static XXH128_hash_t streamed_128(const uint8_t *data, size_t size, struct rng *random) {
    XXH3_state_t *state = XXH3_createState();
    assert_non_null(state);
    XXH3_128bits_reset(state);
    for (size_t begin = 0, piece; begin < size; begin += piece) {
        piece = 1 + (size_t)rng_below(random, STREAMED_MAX);
        if (piece > size - begin) piece = size - begin;
        XXH3_128bits_update(state, data + begin, piece);
    }
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

static void check_hashes(const uint8_t *data, size_t size, struct rng *random) {
    XXH128_hash_t expected = plain_128(data, size);
    assert_true(XXH3_64bits(data, size) == plain_64(data, size));
    assert_true(XXH128_isEqual(XXH3_128bits(data, size), expected));
    assert_true(XXH128_isEqual(streamed_128(data, size, random), expected));
}

/* Bytes at any alignment. They end where the memory does, so that a sanitizer notices reading
 * further. */
static void check_size(size_t size, struct rng *random) {
    size_t skipped = (size_t)rng_below(random, SKIPPED_MAX);
    uint8_t *data = must_realloc(NULL, skipped + size + 1);
    for (size_t i = 0; i <= skipped + size; i++) data[i] = (uint8_t)rng_next(random);
    check_hashes(data + skipped + 1, size, random);
    free(data);
}

static void test_dispatched_hashes_are_the_plain_ones(void **state) {
    (void)state;
    struct rng random = {1};
    for (size_t size = 0; size < 2100; size++) check_size(size, &random);
    for (int i = 0; i < 50; i++) check_size((size_t)rng_below(&random, 1 << 18), &random);
    check_hashes(NULL, 0, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dispatched_hashes_are_the_plain_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
