/* The ranges of long distant records: which blocks are read for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "dataset/batch/ranges.h"
#include "dataset/long_records/record_sums.h"

#include <cmocka.h>

static uint64_t draw_state;
static uint64_t draw(uint64_t n) {
    return random_below(random_word(0x5eed, draw_state++), n);
}

enum { RANGES = 40, BLOCKS = 30 };

/* Marks the blocks that a range touches. */
static void mark(bool *blocks, uint64_t begin, uint64_t end) {
    for (uint64_t b = begin / SUMS_BLOCK_SIZE; begin < end && b * SUMS_BLOCK_SIZE < end; b++)
        blocks[b] = true;
}

/* The merged ranges are exactly the blocks that the ranges touch, and as few as possible. */
static void check_merged(const struct payload_range *merged, size_t count,
                         const struct payload_range *ranges, size_t range_count, uint64_t size) {
    bool expected[BLOCKS + 1] = {false}, found[BLOCKS + 1] = {false};
    for (size_t i = 0; i < range_count; i++) mark(expected, ranges[i].begin, ranges[i].end);
    for (size_t i = 0; i < count; i++) {
        assert_true(merged[i].begin < merged[i].end && merged[i].end <= size);
        assert_true(!i || merged[i].begin > merged[i - 1].end);
        assert_int_equal(merged[i].begin % SUMS_BLOCK_SIZE, 0);
        assert_true(merged[i].end == size || merged[i].end % SUMS_BLOCK_SIZE == 0);
        mark(found, merged[i].begin, merged[i].end);
    }
    assert_memory_equal(found, expected, sizeof found);
}

static void test_near_ranges_are_merged(void **state) {
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct payload_range ranges[RANGES], merged[RANGES];
        struct gather_parts parts = {.ranges = ranges};
        uint64_t size = 1 + draw(BLOCKS * SUMS_BLOCK_SIZE), length = 1 + draw(size);
        size_t count = (size_t)draw(RANGES);
        for (size_t i = 0; i < count; i++) {
            uint64_t begin = draw(size), end = begin + draw(length);
            ranges[i] = (struct payload_range){begin, end < size ? end : size,
                                               i + 1 < count ? i + 1 : SIZE_MAX};
        }
        size_t first = count ? 0 : SIZE_MAX;
        assert_int_equal(ranges_count(&parts, first), count);
        check_merged(merged, ranges_merge(merged, &parts, first, size), ranges, count, size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_ranges_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
