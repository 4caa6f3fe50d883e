/* The radix sort orders items by some bits of their keys, and keeps the order of equal ones. */
#include "base/core/radix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/folder.h"

static void check_sort(size_t count, unsigned first_bit, unsigned end_bit, struct rng *random) {
    struct radix_item *items = must_realloc(NULL, (count + 1) * sizeof *items);
    struct radix_item *scratch = must_realloc(NULL, (count + 1) * sizeof *scratch);
    for (size_t i = 0; i < count; i++) items[i] = (struct radix_item){rng_skewed(random, 64), i};
    struct radix_item *sorted = radix_sort(items, scratch, count, first_bit, end_bit);
    assert_true(sorted == items || sorted == scratch);
    unsigned width = end_bit - first_bit;
    uint64_t mask = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX, sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += sorted[i].value;
        if (!i) continue;
        uint64_t before = sorted[i - 1].key >> first_bit & mask;
        uint64_t here = sorted[i].key >> first_bit & mask;
        assert_true(before < here || (before == here && sorted[i - 1].value < sorted[i].value));
    }
    assert_int_equal(sum, count ? count * (count - 1) / 2 : 0);
    free(items);
    free(scratch);
}

/* Words that agree in the bits keep their order, which their other bits must not change. */
static void check_words(size_t count, unsigned first_bit, unsigned end_bit, struct rng *random) {
    size_t size = (count + 1) * sizeof(uint64_t);
    uint64_t *words = must_realloc(NULL, size), *scratch = must_realloc(NULL, size);
    struct radix_item *items = must_realloc(NULL, 2 * size), *more = must_realloc(NULL, 2 * size);
    for (size_t i = 0; i < count; i++) words[i] = rng_skewed(random, 64);
    for (size_t i = 0; i < count; i++) items[i] = (struct radix_item){words[i], i};
    const uint64_t *sorted = radix_sort_words(words, scratch, count, first_bit, end_bit);
    const struct radix_item *due = radix_sort(items, more, count, first_bit, end_bit);
    assert_true(sorted == words || sorted == scratch);
    for (size_t i = 0; i < count; i++) assert_int_equal(sorted[i], due[i].key);
    free(words);
    free(scratch);
    free(items);
    free(more);
}

static void test_words_are_sorted_stably(void **state) {
    (void)state;
    struct rng random = {2};
    for (size_t count = 0; count < 300; count += count < 60 ? 3 : 37)
        for (unsigned first_bit = 0; first_bit < 64; first_bit += 13)
            for (unsigned end_bit = first_bit; end_bit <= 64; end_bit++)
                check_words(count, first_bit, end_bit, &random);
    check_words(70000, 20, 64, &random);
}

static void test_items_are_sorted_stably(void **state) {
    (void)state;
    struct rng random = {1};
    for (size_t count = 0; count < 300; count += 37)
        for (unsigned first_bit = 0; first_bit < 64; first_bit += 13)
            for (unsigned end_bit = first_bit + 1; end_bit <= 64; end_bit++)
                check_sort(count, first_bit, end_bit, &random);
    check_sort(70000, 26, 48, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_items_are_sorted_stably),
                                       cmocka_unit_test(test_words_are_sorted_stably)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
