/* Adler-32 equals its definition in RFC 1950, and starts from any sum. */
#include "format/deflate/adler32.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"

enum { MODULUS = 65521, DATA_SIZE = 100000 };

static const uint32_t LARGEST_SUM = (uint32_t)(MODULUS - 1) << 16 | (MODULUS - 1);

/* One byte and one remainder at a time. */
static uint32_t defined_sum(uint32_t sum, const uint8_t *data, size_t size) {
    uint32_t low = sum & 0xffff, high = sum >> 16;
    for (size_t i = 0; i < size; i++) {
        low = (low + data[i]) % MODULUS;
        high = (high + low) % MODULUS;
    }
    return high << 16 | low;
}

static void test_sums_have_the_known_values(void **state) {
    (void)state;
    static const uint8_t wikipedia[] = "Wikipedia";
    assert_int_equal(adler32_add(1, NULL, 0), 1);
    assert_int_equal(adler32_add(1, wikipedia, sizeof wikipedia - 1), 0x11e60398);
}

static uint32_t random_sum(struct rng *random) {
    uint32_t low = (uint32_t)(rng_skewed(random, 64) % MODULUS);
    return (uint32_t)(rng_skewed(random, 64) % MODULUS) << 16 | low;
}

/* Bytes of 255 from the largest sum are the ones that overflow first. */
static void test_sums_of_large_sizes_do_not_overflow(void **state) {
    (void)state;
    struct rng random = {1};
    uint8_t *data = must_realloc(NULL, DATA_SIZE);
    for (int is_large = 0; is_large < 2; is_large++) {
        for (size_t i = 0; i < DATA_SIZE; i++)
            data[i] = is_large ? 255 : (uint8_t)rng_skewed(&random, 8);
        for (size_t size = 0; size < DATA_SIZE - 7; size += size < 300 ? 1 : size / 3) {
            uint32_t sum = is_large ? LARGEST_SUM : random_sum(&random);
            const uint8_t *unaligned = data + size % 7;
            assert_int_equal(adler32_add(sum, unaligned, size), defined_sum(sum, unaligned, size));
        }
    }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_have_the_known_values),
        cmocka_unit_test(test_sums_of_large_sizes_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
