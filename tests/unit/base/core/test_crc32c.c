/* CRCs by the instructions of the CPU equal those by a table, for any size, alignment and split. */
#include "base/core/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/shards/oracle.h"

/* Sizes on both sides of 256 bytes, from where ISA-L computes the CRC. */
enum { SIZE_MAX_TESTED = 600, ALIGNMENTS = 16 };

static uint8_t bytes[SIZE_MAX_TESTED + ALIGNMENTS];

static void fill_bytes(void) {
    struct rng random = {1};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)rng_below(&random, 256);
}

static void test_crc_has_the_known_values(void **state) {
    (void)state;
    assert_int_equal(crc32c("", 0), 0);
    assert_int_equal(crc32c("123456789", 9), 0xe3069283u);
}

static void test_every_size_and_alignment(void **state) {
    (void)state;
    fill_bytes();
    for (size_t first = 0; first < ALIGNMENTS; first++)
        for (size_t size = 0; size <= SIZE_MAX_TESTED; size++)
            assert_int_equal(crc32c_mask(crc32c(bytes + first, size)),
                             oracle_masked_crc(bytes + first, size));
}

static void test_crc_of_parts_equals_that_of_the_whole(void **state) {
    (void)state;
    fill_bytes();
    uint32_t whole = crc32c(bytes, SIZE_MAX_TESTED);
    for (size_t cut = 0; cut <= SIZE_MAX_TESTED; cut++) {
        uint32_t crc = crc32c(bytes, cut);
        assert_int_equal(crc32c_extend(crc, bytes + cut, SIZE_MAX_TESTED - cut), whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc_has_the_known_values),
        cmocka_unit_test(test_every_size_and_alignment),
        cmocka_unit_test(test_crc_of_parts_equals_that_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
