/* Memory of a batch: allocations do not overlap, and the next ones take the same memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/batch/record_memory.h"
#include "support/random.h"

enum { ALLOCATIONS = 400, KEPT_MAX = 32 << 20 };

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

static void test_memory_of_random_sizes_does_not_overlap(void **state) {
    (void)state;
    static struct piece pieces[ALLOCATIONS];
    struct record_memory memory = {0};
    struct rng random = {7};
    for (int round = 0; round < 5; round++) {
        size_t count = (size_t)rng_below(&random, ALLOCATIONS);
        fill(&memory, pieces, count, &random);
        check(pieces, count);
        record_memory_clear(&memory, KEPT_MAX);
    }
    record_memory_deinit(&memory);
    record_memory_deinit(&memory);
}

/* From the second time on, a batch is where the one before was. */
static void test_memory_is_reused(void **state) {
    (void)state;
    enum { COUNT = 64, SIZE = 100000 };
    static const uint8_t *before[COUNT];
    struct record_memory memory = {0};
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++) {
            const uint8_t *bytes = record_memory_allocate(&memory, SIZE);
            if (round) assert_ptr_equal(bytes, before[i]);
            before[i] = bytes;
        }
        record_memory_clear(&memory, KEPT_MAX);
    }
    record_memory_deinit(&memory);
}

static size_t kept_size(struct record_memory *memory) {
    size_t count = 0;
    enum { SIZE = 1 << 20 };
    record_memory_clear(memory, KEPT_MAX);
    for (const struct memory_block *last = memory->last; count < 100; count++) {
        assert_non_null(record_memory_allocate(memory, SIZE));
        if (memory->last != last) break;
    }
    return count * SIZE;
}

static void test_little_memory_is_kept(void **state) {
    (void)state;
    struct record_memory memory = {0};
    assert_non_null(record_memory_allocate(&memory, KEPT_MAX));
    record_memory_clear(&memory, KEPT_MAX);
    assert_null(memory.first);
    for (int i = 0; i < 100; i++) assert_non_null(record_memory_allocate(&memory, 1 << 20));
    size_t kept = kept_size(&memory);
    assert_in_range(kept, KEPT_MAX / 2, KEPT_MAX);
    assert_null(record_memory_allocate(&memory, SIZE_MAX));
    record_memory_deinit(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_random_sizes_does_not_overlap),
        cmocka_unit_test(test_memory_is_reused),
        cmocka_unit_test(test_little_memory_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
