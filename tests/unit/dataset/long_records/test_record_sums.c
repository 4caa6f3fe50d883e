/* The checksums of the blocks of long records: a block that changed is noticed, and a record that
 * was evicted is unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dataset/long_records/record_sums.h"
#include "support/random.h"

static void test_sums_check_any_blocks_of_a_record(void **state) {
    (void)state;
    enum { SIZE = 5 * SUMS_BLOCK_SIZE + 77, FIRST = 2 * SUMS_BLOCK_SIZE };
    struct rng random = {5};
    uint8_t *payload = malloc(SIZE);
    struct record_sums *sums = record_sums_create();
    assert_true(payload && sums);
    for (size_t i = 0; i < SIZE; i++) payload[i] = (uint8_t)rng_below(&random, 256);
    assert_false(record_sums_has(sums, 7, SIZE));
    assert_false(record_sums_check(sums, 7, payload, 0, SIZE));
    record_sums_keep(sums, 7, payload, SIZE);
    assert_true(record_sums_has(sums, 7, SIZE));
    assert_false(record_sums_has(sums, 7, SIZE - 1));
    assert_true(record_sums_check(sums, 7, payload, 0, SIZE));
    assert_true(record_sums_check(sums, 7, payload + FIRST, FIRST, FIRST + SUMS_BLOCK_SIZE));
    assert_true(record_sums_check(sums, 7, payload + FIRST, FIRST, SIZE));
    assert_false(record_sums_check(sums, 8, payload, 0, SIZE));
    assert_false(record_sums_check(sums, 7, payload + FIRST, FIRST, FIRST + 100));
    payload[FIRST + SUMS_BLOCK_SIZE - 1] ^= 1;
    assert_false(record_sums_check(sums, 7, payload + FIRST, FIRST, SIZE));
    assert_true(record_sums_check(sums, 7, payload, 0, FIRST));
    for (uint64_t record = 8; record < 30000; record++) record_sums_keep(sums, record, payload, 9);
    assert_false(record_sums_has(sums, 7, SIZE));
    record_sums_destroy(sums);
    record_sums_destroy(NULL);
    free(payload);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_check_any_blocks_of_a_record)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
