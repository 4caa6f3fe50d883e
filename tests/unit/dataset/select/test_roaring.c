/* Sets in Roaring's portable format: what is written, what other writers write, malformed bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/select/roaring.h"
#include "support/random.h"

static void assert_round_trip(const uint64_t *numbers, size_t count, size_t expected_size) {
    size_t size = roaring_size(numbers, count);
    assert_true(size <= roaring_size_max(count, count ? numbers[count - 1] + 1 : 0));
    if (expected_size) assert_int_equal(size, expected_size);
    uint8_t *packed = malloc(size);
    uint64_t *read = malloc((count + 1) * sizeof *read);
    uint64_t limit = count ? numbers[count - 1] + 1 : 0;
    assert_non_null(packed);
    assert_non_null(read);
    roaring_pack(packed, numbers, count);
    assert_true(roaring_unpack(read, count, limit, packed, size));
    if (count) assert_memory_equal(read, numbers, count * sizeof *numbers);
    assert_false(roaring_unpack(read, count + 1, limit, packed, size));
    assert_false(roaring_unpack(read, count, limit, packed, size - 1));
    if (count) {
        assert_false(roaring_unpack(read, count - 1, limit, packed, size));
        assert_false(roaring_unpack(read, count, limit - 1, packed, size));
    }
    free(read);
    free(packed);
}

static void test_sets_survive_a_round_trip(void **state) {
    (void)state;
    enum { COUNT = 140000 };
    uint64_t *numbers = malloc(COUNT * sizeof *numbers);
    assert_non_null(numbers);
    assert_round_trip(numbers, 0, 8);
    numbers[0] = 7;
    assert_round_trip(numbers, 1, 8 + 4 + 8 + 8 + 2);
    for (size_t i = 0; i < 4096; i++) numbers[i] = 2 * i;
    assert_round_trip(numbers, 4096, 8 + 4 + 8 + 8 + 8192);
    for (size_t i = 0; i < COUNT; i++) numbers[i] = i;
    assert_round_trip(numbers, 4097, 8 + 4 + 8 + 8 + 8192);
    assert_round_trip(numbers, 65536, 8 + 4 + 8 + 8 + 8192);
    assert_round_trip(numbers, COUNT, 0);
    uint64_t wide[] = {0, 65535, 65536, 0xffffffff, 0x100000000, 0x1ffff0000, (uint64_t)1 << 40};
    assert_round_trip(wide, sizeof wide / sizeof *wide, 0);
    free(numbers);
}

/* {1, 2, 3, 5} as one container of runs, without a table of offsets, as other writers store it. */
static const uint8_t runs[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 59, 48, 0, 0,
                               1, 0, 0, 3, 0, 2, 0, 1, 0, 2, 0, 5, 0,  0,  0};

static void test_containers_of_runs_are_read(void **state) {
    (void)state;
    uint64_t numbers[4];
    assert_true(roaring_unpack(numbers, 4, 6, runs, sizeof runs));
    const uint64_t expected[] = {1, 2, 3, 5};
    assert_memory_equal(numbers, expected, sizeof expected);
    uint8_t bytes[sizeof runs];
    memcpy(bytes, runs, sizeof runs);
    bytes[27] = 3; /* the second run begins within the first */
    assert_false(roaring_unpack(numbers, 4, 6, bytes, sizeof bytes));
    bytes[27] = 255, bytes[28] = 255, bytes[29] = 1; /* ends after the container */
    assert_false(roaring_unpack(numbers, 4, UINT64_MAX, bytes, sizeof bytes));
}

/* No change of a byte is read as another number of items, as numbers that do not ascend, or as
 * numbers beyond the limit. */
static void test_malformed_sets_are_refused(void **state) {
    (void)state;
    enum { COUNT = 300, LIMIT = 200000 };
    uint64_t numbers[COUNT], read[COUNT];
    struct rng random = {1};
    for (size_t i = 0; i < COUNT; i++) numbers[i] = i * 600 + rng_next(&random) % 600;
    size_t size = roaring_size(numbers, COUNT);
    uint8_t *packed = malloc(size);
    assert_non_null(packed);
    for (size_t round = 0; round < 20000; round++) {
        roaring_pack(packed, numbers, COUNT);
        packed[round % size] ^= (uint8_t)(1 + rng_next(&random) % 255);
        size_t cut = rng_next(&random) % 8 ? size : rng_next(&random) % size;
        if (!roaring_unpack(read, COUNT, LIMIT, packed, cut)) continue;
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(read[i] < LIMIT);
            assert_true(!i || read[i] > read[i - 1]);
        }
    }
    free(packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_survive_a_round_trip),
        cmocka_unit_test(test_containers_of_runs_are_read),
        cmocka_unit_test(test_malformed_sets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
