/* The permutation is one: for every n, on every path, and its inverse undoes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "base/permutation/wide.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Runs a check on every path that this machine has. */
static void on_every_path(void (*check)(void)) {
    for (int path = 0; path < PERMUTATION_PATH_COUNT; path++)
        if (permutation_force((enum permutation_path)path)) check();
    permutation_force(permutation_best());
}

/* All of [0, n) goes through p and back, in pieces of one size. */
static void check_bijection(uint64_t n, uint64_t seed, size_t piece) {
    struct permutation permutation;
    permutation_init(&permutation, n, seed, 3, 0);
    uint64_t *numbers = make_array(n, sizeof *numbers);
    for (size_t i = 0; i < n; i++) numbers[i] = i;
    for (size_t i = 0; i < n; i += piece)
        permutation_at(&permutation, numbers + i, numbers + i, n - i < piece ? n - i : piece);
    if (!is_permutation(numbers, n, n)) fail_msg("n = %llu", (unsigned long long)n);
    for (size_t i = 0; i < n; i += piece)
        permutation_inverse(&permutation, numbers + i, numbers + i, n - i < piece ? n - i : piece);
    for (size_t i = 0; i < n; i++)
        if (numbers[i] != i) fail_msg("inverse: n = %llu", (unsigned long long)n);
    free(numbers);
}

static void check_small(void) {
    const uint64_t step = is_long() ? 1 : 5;
    for (uint64_t n = 1; n <= 4096; n += n < 300 ? 1 : step) check_bijection(n, 52, 1 + n % 300);
}

static void test_small_sizes_are_permuted(void **state) {
    (void)state;
    on_every_path(check_small);
}

static void check_named(void) {
    static const uint64_t sizes[] = {46205,  65535, 65536, 65537, 65538, 18,   286,   23496,
                                     499001, 17,    65,    257,   1025,  4097, 16385, 262145};
    for (size_t i = 0; i < COUNT(sizes); i++) check_bijection(sizes[i], 52, 1000);
    for (unsigned k = 12; k <= (is_long() ? 22 : 18); k++)
        for (uint64_t n = ((uint64_t)1 << k) - 1; n <= ((uint64_t)1 << k) + 1; n++)
            check_bijection(n, k, 777);
    if (is_long()) check_bijection(((uint64_t)1 << 24) + 1, 1, 4096);
}

static void test_sizes_at_limits_are_permuted(void **state) {
    (void)state;
    on_every_path(check_named);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_distinct_of_many(void **state) {
    (void)state;
    enum { SAMPLE = 10000 };
    uint64_t numbers[SAMPLE];
    struct permutation permutation;
    permutation_init(&permutation, 1234567892, 27, 0, 0);
    for (uint64_t i = 0; i < SAMPLE; i++) numbers[i] = i;
    permutation_at(&permutation, numbers, numbers, SAMPLE);
    qsort(numbers, SAMPLE, sizeof *numbers, compare);
    for (size_t i = 0; i < SAMPLE; i++)
        assert_true(numbers[i] < 1234567892 && (!i || numbers[i] != numbers[i - 1]));
}

/* Sizes of every bit width, at both ends and between; positions at the ends and at random. */
static uint64_t size_of_width(unsigned bits, uint64_t i) {
    uint64_t max = (uint64_t)1 << bits, low = max / 2 + 1;
    if (i == 0) return low;
    if (i == 1) return max;
    return low + random_below(random_word(bits, i), max - low + 1);
}

static void check_size(uint64_t n, size_t count) {
    enum { LIMIT = 600 };
    uint64_t positions[LIMIT], numbers[LIMIT], back[LIMIT];
    struct permutation permutation;
    permutation_init(&permutation, n, n, 1, 2);
    for (size_t i = 0; i < count; i++)
        positions[i] = i & 1 ? random_below(random_word(n, i), n) : n - 1 - i % n;
    permutation_at(&permutation, numbers, positions, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(numbers[i] < n);
        assert_int_equal(numbers[i], permutation_at_one(&permutation, positions[i]));
    }
    permutation_inverse(&permutation, back, numbers, count);
    assert_memory_equal(back, positions, count * sizeof *back);
    memcpy(back, positions, sizeof back);
    permutation_at(&permutation, back, back, count);
    assert_memory_equal(back, numbers, count * sizeof *back);
}

static void check_widths(void) {
    for (unsigned bits = 1; bits <= 62; bits++)
        for (uint64_t i = 0; i < (is_long() ? 100 : 10); i++)
            check_size(size_of_width(bits, i), random_below(random_word(bits, i), 600));
}

static void test_paths_agree_at_every_width(void **state) {
    (void)state;
    on_every_path(check_widths);
}

/* More copies of a value that needs another cycle step than fit in a block: those before `from`
 * alternate with others, those from there on do not. */
static void check_copies(uint64_t value, size_t first) {
    enum { COUNT_ALL = 1500, SIZE = 257 };
    uint64_t numbers[COUNT_ALL], expected[2];
    struct permutation permutation;
    permutation_init(&permutation, SIZE, 4, 0, 0);
    for (size_t i = 0; i < COUNT_ALL; i++)
        numbers[i] = i >= first || i % 2 ? value : (value + 1) % SIZE;
    for (size_t i = 0; i < 2; i++)
        expected[i] = permutation_at_one(&permutation, (value + i) % SIZE);
    permutation_at(&permutation, numbers, numbers, COUNT_ALL);
    for (size_t i = 0; i < COUNT_ALL; i++)
        assert_int_equal(numbers[i], expected[i >= first || i % 2 ? 0 : 1]);
    permutation_inverse(&permutation, numbers, numbers, COUNT_ALL);
    for (size_t i = 0; i < COUNT_ALL; i++)
        assert_int_equal(numbers[i], i >= first || i % 2 ? value : (value + 1) % SIZE);
}

static void check_repeated_cycle_walks(void) {
    for (uint64_t value = 0; value < 257; value++)
        for (size_t from = 0; from < 300; from += 37) check_copies(value, from);
}

static void test_repeated_cycle_walks(void **state) {
    (void)state;
    on_every_path(check_repeated_cycle_walks);
}

static void test_forcing_a_path(void **state) {
    (void)state;
    assert_true(permutation_force(PERMUTATION_PORTABLE));
    permutation_force(permutation_best());
    assert_false(permutation_force(PERMUTATION_PATH_COUNT));
#ifdef RECMAP_PORTABLE
    assert_int_equal(permutation_best(), PERMUTATION_PORTABLE);
#endif
    for (int path = 0; path < PERMUTATION_PATH_COUNT; path++)
        print_message("%s: %s\n", permutation_path_name((enum permutation_path)path),
                      permutation_force((enum permutation_path)path) ? "tested"
                                                                     : "not on this machine");
    permutation_force(permutation_best());
}

/* Products and quotients against sums: a*b by shifting, (q*c + r) back to the product. */
static void test_wide_products_and_quotients_are_exact(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t a = random_word(1, i) >> (i % 64), b = random_word(2, i) >> (i / 64 % 64);
        uint64_t c = (random_word(3, i) >> (i / 7 % 64)) | 1, high = 0, low = 0;
        for (unsigned bit = 0; bit < 64; bit++) {
            if (!(b >> bit & 1)) continue;
            uint64_t sum = low + (a << bit);
            high += (bit ? a >> (64 - bit) : 0) + (sum < low);
            low = sum;
        }
        struct wide product = wide_multiply(a, b);
        assert_true(product.high == high && product.low == low);
        if (product.high >= c) {
            assert_true(scale_down(a, b, c) == UINT64_MAX && scale_up(a, b, c) == UINT64_MAX);
            continue;
        }
        uint64_t quotient = scale_down(a, b, c);
        struct wide back = wide_multiply(quotient, c);
        uint64_t rest = product.low - back.low;
        assert_true(rest < c && back.high + (back.low + rest < rest) == product.high);
        if (quotient < UINT64_MAX) assert_true(scale_up(a, b, c) == quotient + (rest > 0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forcing_a_path),
        cmocka_unit_test(test_small_sizes_are_permuted),
        cmocka_unit_test(test_sizes_at_limits_are_permuted),
        cmocka_unit_test(test_distinct_of_many),
        cmocka_unit_test(test_paths_agree_at_every_width),
        cmocka_unit_test(test_repeated_cycle_walks),
        cmocka_unit_test(test_wide_products_and_quotients_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
