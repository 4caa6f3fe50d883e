/* Counts packed in memory give back the counts they were made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "order/counts/counts.h"
#include "order/kinds/digest.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

/* Counts of up to `bits` bits, with a constant stretch, and ending in the middle of a block. */
static uint64_t *make_values(size_t count, unsigned bits) {
    uint64_t *values = make_array(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        bool is_constant = i / 128 % 3 == 1;
        values[i] = is_constant ? 7 : random_word(bits, i) >> (64 - bits) >> (i % 5);
    }
    return values;
}

static void check_counts(const recmap_counts *counts, const uint64_t *values, size_t count) {
    uint64_t *actual = make_array(count, sizeof *actual),
             *records = make_array(count, sizeof *records);
    MUST(recmap_counts_read(actual, counts, 0, count, &error));
    assert_memory_equal(actual, values, count * sizeof *actual);
    for (size_t i = 0; i < count; i++) records[i] = random_below(random_word(1, i), count);
    counts->source->gather(actual, counts, records, count);
    for (size_t i = 0; i < count; i++) assert_int_equal(actual[i], values[records[i]]);
    for (size_t first = 0; first < count; first += 1 + first / 3) {
        size_t here = count - first < 200 ? count - first : 200;
        MUST(recmap_counts_read(actual, counts, first, here, &error));
        assert_memory_equal(actual, values + first, here * sizeof *actual);
    }
    free(actual);
    free(records);
}

static void check_summary(const recmap_counts *counts, const uint64_t *values, size_t count) {
    uint64_t total = 0, longest = 0, filled = 0;
    uint8_t digest[DIGEST_SIZE];
    for (size_t i = 0; i < count; i++) {
        total += values[i];
        filled += values[i] > 0;
        if (values[i] > longest) longest = values[i];
    }
    MUST(digest_words(digest, values, count, &error));
    assert_int_equal(recmap_counts_record_count(counts), count);
    assert_int_equal(recmap_counts_total(counts), total);
    assert_int_equal(recmap_counts_longest(counts), longest);
    assert_int_equal(counts->filled, filled);
    assert_memory_equal(counts->digest, digest, DIGEST_SIZE);
}

static void test_counts_survive_a_round_trip(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 127, 128, 129, 1000, 5000};
    for (int s = 0; s < 7; s++)
        for (unsigned bits = 1; bits <= 48; bits += 1 + bits / 4) {
            uint64_t *values = make_values(sizes[s], bits);
            recmap_counts *counts = NULL;
            MUST(recmap_counts_create(&counts, values, 8, sizes[s], &error));
            check_counts(counts, values, sizes[s]);
            check_summary(counts, values, sizes[s]);
            recmap_counts_release(counts);
            free(values);
        }
}

static void test_counts_of_each_size_are_read(void **state) {
    (void)state;
    const uint8_t bytes[] = {1, 255, 0};
    const uint16_t halves[] = {1, 65535, 0};
    const uint32_t words[] = {1, UINT32_MAX, 0};
    const void *arrays[] = {bytes, halves, words};
    const uint64_t largest[] = {255, 65535, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        recmap_counts *counts = NULL;
        const uint64_t expected[] = {1, largest[i], 0};
        MUST(recmap_counts_create(&counts, arrays[i], (size_t)1 << i, 3, &error));
        check_counts(counts, expected, 3);
        recmap_counts_release(counts);
    }
}

/* The widest block: 63 bits, of which some lie across two words. */
static void test_blocks_of_63_bits_are_read(void **state) {
    (void)state;
    const uint64_t values[] = {0, RECMAP_COUNTS_MAX - 5, 1, 3, 1};
    recmap_counts *counts = NULL;
    MUST(recmap_counts_create(&counts, values, 8, 5, &error));
    check_counts(counts, values, 5);
    check_summary(counts, values, 5);
    recmap_counts_release(counts);
}

static void test_counts_out_of_range_are_refused(void **state) {
    (void)state;
    const uint64_t large[] = {5, RECMAP_COUNTS_MAX + 1}, many[] = {RECMAP_COUNTS_MAX, 0, 1};
    const int64_t negative[] = {3, 4, -1};
    recmap_counts *counts = NULL;
    MUST_FAIL(RECMAP_INVALID, "record 1 is 4611686018427387905",
              recmap_counts_create(&counts, large, 8, 2, &error));
    MUST_FAIL(RECMAP_INVALID, "record 2", recmap_counts_create(&counts, many, 8, 3, &error));
    MUST_FAIL(RECMAP_INVALID, "record 2 is 18446744073709551615",
              recmap_counts_create(&counts, negative, 8, 3, &error));
    MUST_FAIL(RECMAP_INVALID, "3 bytes", recmap_counts_create(&counts, large, 3, 1, &error));
    MUST(recmap_counts_create(&counts, large, 8, 1, &error));
    uint64_t value;
    MUST_FAIL(RECMAP_INVALID, "there is 1 record",
              recmap_counts_read(&value, counts, 1, 1, &error));
    recmap_counts_release(counts);
    recmap_counts_release(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_survive_a_round_trip),
        cmocka_unit_test(test_counts_of_each_size_are_read),
        cmocka_unit_test(test_blocks_of_63_bits_are_read),
        cmocka_unit_test(test_counts_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
