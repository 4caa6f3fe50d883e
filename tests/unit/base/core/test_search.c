/* Binary search: compared to counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/search.h"

enum { COUNT_MAX = 33 };

/* Structs whose key is not their first member, with repeated keys. */
static void test_search_finds_the_first_key_not_below(void **state) {
    (void)state;
    struct item {
        uint32_t other;
        uint64_t key;
        uint8_t last;
    } items[COUNT_MAX];
    for (size_t i = 0; i < COUNT_MAX; i++) items[i] = (struct item){~0u, 10 + i / 3 * 2, 0xff};
    for (size_t count = 0; count <= COUNT_MAX; count++) {
        for (uint64_t limit = 8; limit < 40; limit++) {
            size_t below = 0;
            while (below < count && items[below].key < limit) below++;
            assert_int_equal(search_below(&items->key, sizeof *items, count, limit), below);
        }
        assert_int_equal(search_below(&items->key, sizeof *items, count, 0), 0);
        assert_int_equal(search_below(&items->key, sizeof *items, count, UINT64_MAX), count);
    }
}

/* Keys that do not ascend give a wrong result, but never one that is out of range. */
static void test_unsorted_keys_give_no_place_out_of_range(void **state) {
    (void)state;
    const uint64_t keys[] = {9, 1, 8, 2, 7, 3};
    enum { COUNT = sizeof keys / sizeof *keys };
    for (uint64_t limit = 0; limit < 12; limit++)
        assert_in_range(search_below(keys, sizeof *keys, COUNT, limit), 0, COUNT);
}

/* 32-bit keys with a limit above all of them, and keys that do not ascend. */
static void test_search_finds_keys_of_32_bits(void **state) {
    (void)state;
    const uint32_t keys[] = {0, 3, 3, 8, UINT32_MAX}, unsorted[] = {9, 1, 8, 2, 7};
    enum { COUNT = sizeof keys / sizeof *keys };
    for (uint32_t count = 0; count <= COUNT; count++) {
        for (uint64_t limit = 0; limit < 12; limit++) {
            uint32_t below = 0;
            while (below < count && keys[below] < limit) below++;
            assert_int_equal(search_below32(keys, count, limit), below);
            assert_in_range(search_below32(unsorted, count, limit), 0, count);
        }
        assert_int_equal(search_below32(keys, count, (uint64_t)UINT32_MAX + 1), count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_finds_the_first_key_not_below),
        cmocka_unit_test(test_search_finds_keys_of_32_bits),
        cmocka_unit_test(test_unsorted_keys_give_no_place_out_of_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
