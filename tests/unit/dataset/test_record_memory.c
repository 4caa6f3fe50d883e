/* Memory of a batch: allocations do not overlap, and the next ones take the same memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/record_memory.h"
#include "support/random.h"

enum { ALLOCATIONS = 400 };

struct piece {
    uint8_t *bytes;
    size_t size;
};

static size_t random_size(struct rng *random) {
    static const size_t below[] = {2, 100, 70000, 3 << 20};
    return (size_t)rng_below(random, below[rng_below(random, 4)]);
}

static void fill(struct record_memory *memory, struct piece *pieces, size_t count,
                 struct rng *random) {
    for (size_t i = 0; i < count; i++) {
        size_t size = random_size(random);
        pieces[i] = (struct piece){record_memory_allocate(memory, size), size};
        assert_non_null(pieces[i].bytes);
        assert_int_equal((uintptr_t)pieces[i].bytes % 16, 0);
        memset(pieces[i].bytes, (int)(i % 251), size);
    }
}

static void check(const struct piece *pieces, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < pieces[i].size; k += k < 200 ? 1 : 997)
            assert_int_equal(pieces[i].bytes[k], i % 251);
}

static void test_random_sizes(void **state) {
    (void)state;
    static struct piece pieces[ALLOCATIONS];
    struct record_memory memory = {0};
    struct rng random = {7};
    for (int round = 0; round < 5; round++) {
        size_t count = (size_t)rng_below(&random, ALLOCATIONS);
        fill(&memory, pieces, count, &random);
        check(pieces, count);
        record_memory_clear(&memory);
    }
    record_memory_deinit(&memory);
    record_memory_deinit(&memory);
}

/* After the second time, a batch of the same size fits in the block that was kept. */
static void test_memory_is_reused(void **state) {
    (void)state;
    enum { COUNT = 64, SIZE = 100000 };
    struct record_memory memory = {0};
    const uint8_t *before = NULL;
    for (int round = 0; round < 5; round++) {
        const uint8_t *first = NULL;
        for (int i = 0; i < COUNT; i++) {
            const uint8_t *bytes = record_memory_allocate(&memory, SIZE);
            if (!first) first = bytes;
            if (round > 1) assert_true(bytes >= first && bytes < first + 2 * COUNT * SIZE);
        }
        if (round > 2) assert_ptr_equal(first, before);
        before = first;
        record_memory_clear(&memory);
    }
    record_memory_deinit(&memory);
}

static void test_large_memory_is_not_kept(void **state) {
    (void)state;
    struct record_memory memory = {0};
    assert_non_null(record_memory_allocate(&memory, RECORD_MEMORY_KEPT_MAX));
    record_memory_clear(&memory);
    assert_null(memory.blocks);
    assert_non_null(record_memory_allocate(&memory, 10));
    assert_non_null(record_memory_allocate(&memory, RECORD_MEMORY_KEPT_MAX));
    record_memory_clear(&memory);
    assert_non_null(memory.blocks);
    assert_null(record_memory_allocate(&memory, SIZE_MAX));
    record_memory_deinit(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sizes),
        cmocka_unit_test(test_memory_is_reused),
        cmocka_unit_test(test_large_memory_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
