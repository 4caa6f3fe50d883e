/* CRCs of pieces, computed from sums, are right; a search through bytes made to look like headers
 * of long records costs one pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/crc32c.h"
#include "format/framing/crc_sums.h"
#include "format/framing/tfrecord.h"
#include "support/buffer.h"
#include "support/random.h"

static void test_shifted_sums_equal_sums_before_zeros(void **state) {
    (void)state;
    struct rng random = {1};
    struct buffer bytes = BUFFER_INIT;
    buffer_add_random(&bytes, 10000, &random);
    for (int i = 0; i < 2000; i++) {
        size_t cut = (size_t)rng_below(&random, bytes.size + 1);
        uint32_t a = crc32c(bytes.data, cut), b = crc32c(bytes.data + cut, bytes.size - cut);
        assert_int_equal(crc32c_shift(a, bytes.size - cut) ^ b, crc32c(bytes.data, bytes.size));
    }
    buffer_deinit(&bytes);
}

static void test_sums_of_pieces_equal_their_crcs(void **state) {
    (void)state;
    struct rng random = {1};
    struct buffer bytes = BUFFER_INIT;
    buffer_add_random(&bytes, 100000, &random);
    for (int round = 0; round < 100; round++) {
        struct crc_sums sums = CRC_SUMS_INIT;
        uint64_t first = rng_below(&random, 20000);
        for (int i = 0; i < 50; i++) {
            uint64_t from = i ? first + rng_below(&random, bytes.size - first) : first;
            uint64_t size = rng_below(&random, bytes.size - from + 1);
            uint32_t crc;
            assert_true(crc_sums_piece(&crc, &sums, bytes.data, from, size));
            assert_int_equal(crc, crc32c(bytes.data + from, size));
        }
        crc_sums_deinit(&sums);
    }
    buffer_deinit(&bytes);
}

/* 100,000 headers in 8 MB, each of a record that extends to the end: checking them one by one would
 * read 800 GB. The search with a bound on its work stops without a result; the one with sums finds
 * the one valid record. */
static void test_false_headers_cost_one_pass(void **state) {
    (void)state;
    enum { COUNT = 100000, REST = 7000000 };
    struct buffer bytes = BUFFER_INIT;
    size_t total = (size_t)COUNT * TFRECORD_HEADER_SIZE + REST;
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t header[TFRECORD_HEADER_SIZE];
        tfrecord_make_header(header, total - bytes.size - TFRECORD_OVERHEAD);
        buffer_add(&bytes, header, sizeof header);
    }
    while (bytes.size < total) buffer_add_byte(&bytes, 0xff);
    const struct framing *framing = &tfrecord_framing;
    struct crc_sums sums = CRC_SUMS_INIT;
    assert_true(framing->find(framing, bytes.data, total, 0, total,
                              (struct search_budget){100000, total}, NULL) == FRAME_NOWHERE);
    assert_true(framing->find(framing, bytes.data, total, 0, total, SEARCH_UNBOUNDED, &sums) ==
                FRAME_NOWHERE);
    uint64_t good = (uint64_t)(COUNT / 2) * TFRECORD_HEADER_SIZE;
    const uint8_t *data = bytes.data + good + TFRECORD_HEADER_SIZE;
    tfrecord_make_footer(bytes.data + total - 4, data, total - 4 - (size_t)(data - bytes.data));
    crc_sums_clear(&sums);
    assert_int_equal(framing->find(framing, bytes.data, total, 0, total, SEARCH_UNBOUNDED, &sums),
                     good);
    crc_sums_deinit(&sums);
    buffer_deinit(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shifted_sums_equal_sums_before_zeros),
        cmocka_unit_test(test_sums_of_pieces_equal_their_crcs),
        cmocka_unit_test(test_false_headers_cost_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
