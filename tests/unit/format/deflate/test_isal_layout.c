/* inflate.c reads and edits the internals of ISA-L's decoder (struct inflate_state). These tests
 * fail on an ISA-L that lays the struct out differently, or that fills it differently, so that a
 * new version is accepted only after somebody has compared it. The last two tests examine the
 * library that is loaded: it can be newer than the header that recmap was compiled with.
 *
 * To accept a new version: compare its isal_inflate with a known version's, run the tests of
 * inflating, points and spans against it, and raise the bound here, in cmake/libraries.cmake, in
 * recmap.pc.in and in cmake/recmapConfig.cmake.in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <isa-l.h>
#include <zlib.h>

/* Known to work: 2.30.0, 2.31.1, 2.32.0 and 2.32.1. */
static void test_version_is_known(void **state) {
    (void)state;
    assert_true(ISAL_VERSION >= ISAL_MAKE_VERSION(2, 30, 0));
    assert_true(ISAL_VERSION < ISAL_MAKE_VERSION(2, 33, 0));
}

#define ASSERT_FIELD(field, at, width)                                                             \
    do {                                                                                           \
        assert_int_equal(offsetof(struct inflate_state, field), at);                               \
        assert_int_equal(sizeof((struct inflate_state *)NULL)->field, width);                      \
    } while (0)

static void test_fields_are_where_they_were(void **state) {
    (void)state;
    assert_int_equal(sizeof(struct inflate_state), 87368);
    ASSERT_FIELD(next_out, 0, 8);
    ASSERT_FIELD(avail_out, 8, 4);
    ASSERT_FIELD(next_in, 16, 8);
    ASSERT_FIELD(read_in, 24, 8);
    ASSERT_FIELD(avail_in, 32, 4);
    ASSERT_FIELD(read_in_length, 36, 4);
    ASSERT_FIELD(block_state, 21160, 4);
    ASSERT_FIELD(bfinal, 21168, 4);
    ASSERT_FIELD(tmp_out_valid, 21208, 4);
    ASSERT_FIELD(tmp_out_processed, 21212, 4);
    ASSERT_FIELD(tmp_out_buffer, 21544, 2 * 32768 + 288);
}

static void test_states_of_a_block_have_their_numbers(void **state) {
    (void)state;
    assert_int_equal(ISAL_BLOCK_NEW_HDR, 0);
    assert_int_equal(ISAL_BLOCK_HDR, 1);
    assert_int_equal(ISAL_BLOCK_TYPE0, 2);
    assert_int_equal(ISAL_BLOCK_CODED, 3);
    assert_int_equal(ISAL_BLOCK_INPUT_DONE, 4);
    assert_int_equal(ISAL_BLOCK_FINISH, 5);
}

enum { CONTENT_SIZE = 1000, TRAILER_SIZE = 20, ROOM = 10 };

/* A raw deflate stream of one block, followed by bytes that do not belong to it. */
struct stream {
    uint8_t content[CONTENT_SIZE];
    uint8_t bytes[2 * CONTENT_SIZE];
    size_t size;
};

static void stream_init(struct stream *stream) {
    for (int i = 0; i < CONTENT_SIZE; i++) stream->content[i] = (uint8_t)(i * i / 7);
    z_stream deflater = {.next_in = stream->content, .avail_in = CONTENT_SIZE};
    assert_int_equal(deflateInit2(&deflater, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    deflater.next_out = stream->bytes;
    deflater.avail_out = sizeof stream->bytes - TRAILER_SIZE;
    assert_int_equal(deflate(&deflater, Z_FINISH), Z_STREAM_END);
    stream->size = deflater.total_out;
    memset(stream->bytes + stream->size, 0xa5, TRAILER_SIZE);
    deflateEnd(&deflater);
}

static struct inflate_state *inflate_start(struct stream *stream, uint8_t *out) {
    /* Not from the stack: a library with a larger struct would write past its end unnoticed. */
    struct inflate_state *isal = test_malloc(sizeof *isal);
    isal_inflate_init(isal);
    isal->next_in = stream->bytes;
    isal->avail_in = (uint32_t)stream->size + TRAILER_SIZE;
    isal->next_out = out;
    isal->avail_out = ROOM;
    return isal;
}

/* inflater_point and inflater_read take output that is decoded, but not handed out yet, from
 * tmp_out_buffer. */
static void test_pending_output_is_in_the_buffer(void **state) {
    (void)state;
    static struct stream stream;
    uint8_t out[CONTENT_SIZE];
    stream_init(&stream);
    struct inflate_state *isal = inflate_start(&stream, out);
    assert_int_equal(isal->block_state, ISAL_BLOCK_NEW_HDR);
    assert_int_equal(isal_inflate(isal), ISAL_DECOMP_OK);
    assert_int_equal(isal->avail_out, 0);
    assert_int_equal(isal->tmp_out_valid, CONTENT_SIZE);
    assert_int_equal(isal->tmp_out_processed, ROOM);
    assert_memory_equal(isal->tmp_out_buffer, stream.content, CONTENT_SIZE);
    assert_int_equal(isal->block_state, ISAL_BLOCK_INPUT_DONE);
    assert_int_equal(isal->bfinal, 1);
    test_free(isal);
}

/* After the last block, the bytes that were loaded but not used are either counted in
 * read_in_length or given back to next_in; both lead to the same position. */
static void test_position_after_the_last_block(void **state) {
    (void)state;
    static struct stream stream;
    uint8_t out[CONTENT_SIZE];
    stream_init(&stream);
    struct inflate_state *isal = inflate_start(&stream, out);
    assert_int_equal(isal_inflate(isal), ISAL_DECOMP_OK);
    isal->avail_out = CONTENT_SIZE - ROOM;
    assert_int_equal(isal_inflate(isal), ISAL_DECOMP_OK);
    assert_int_equal(isal->block_state, ISAL_BLOCK_FINISH);
    assert_memory_equal(out, stream.content, CONTENT_SIZE);
    uint32_t unused = isal->avail_in + (uint32_t)isal->read_in_length / 8;
    assert_int_equal(unused, TRAILER_SIZE);
    assert_ptr_equal(isal->next_in + isal->avail_in, stream.bytes + stream.size + TRAILER_SIZE);
    test_free(isal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_is_known),
        cmocka_unit_test(test_fields_are_where_they_were),
        cmocka_unit_test(test_states_of_a_block_have_their_numbers),
        cmocka_unit_test(test_pending_output_is_in_the_buffer),
        cmocka_unit_test(test_position_after_the_last_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
