/* Inflating whole GZIP and ZLIB streams: every cut and every flipped bit is noticed, several
 * streams behind each other are one, and what is no stream is not taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "format/inflate.h"
#include "support/buffer.h"
#include "support/random.h"

static const uint64_t NO_LIMIT = UINT64_MAX;

/* Compresses by zlib, the second opinion: window bits 31 make GZIP, 15 ZLIB. */
static void add_stream(buffer *to, compression kind, const buffer *content, int level) {
    z_stream stream = {0};
    int window = kind == COMPRESSION_GZIP ? 31 : 15;
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, content->size);
    uint8_t *out = must_realloc(NULL, room);
    stream.next_in = content->data;
    stream.avail_in = (uInt)content->size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    buffer_add(to, out, room - stream.avail_out);
    deflateEnd(&stream);
    free(out);
}

static buffer make_content(rng *random, size_t size) {
    buffer content = BUFFER_INIT;
    while (content.size < size) {
        buffer_add_random(&content, rng_below(random, 200), random);
        for (uint64_t i = rng_below(random, 300); i > 0; i--) buffer_add_byte(&content, 'a');
    }
    return content;
}

static void assert_inflates(compression kind, const buffer *stream, const buffer *content) {
    inflated out = {0};
    assert_int_equal(compression_detect(stream->data, stream->size), kind);
    assert_int_equal(inflate_all(&out, kind, stream->data, stream->size, NO_LIMIT), INFLATE_OK);
    assert_int_equal(out.size, content->size);
    assert_memory_equal(out.data, content->data, content->size);
    free(out.data);
}

static void test_streams(void **state) {
    (void)state;
    rng random = {1};
    static const size_t sizes[] = {1, 100, 65535, 65536, 65537, 300000, 2000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++)
            for (int level = 0; level <= 9; level += 3) {
                buffer content = make_content(&random, sizes[i]), stream = BUFFER_INIT;
                add_stream(&stream, kind, &content, level);
                assert_inflates(kind, &stream, &content);
                buffer_free(&content);
                buffer_free(&stream);
            }
}

static void test_members(void **state) {
    (void)state;
    rng random = {1};
    for (compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++)
        for (int round = 0; round < 50; round++) {
            buffer all = BUFFER_INIT, stream = BUFFER_INIT, empty = BUFFER_INIT;
            for (uint64_t m = 1 + rng_below(&random, 5); m > 0; m--) {
                buffer content = make_content(&random, 1 + rng_below(&random, 3000));
                add_stream(&stream, kind, &content, 6);
                buffer_add(&all, content.data, content.size);
                if (rng_below(&random, 2)) add_stream(&stream, kind, &empty, 6);
                buffer_free(&content);
            }
            for (uint64_t zeros = rng_below(&random, 600); zeros > 0; zeros--)
                buffer_add_byte(&stream, 0);
            assert_inflates(kind, &stream, &all);
            buffer_free(&all);
            buffer_free(&stream);
        }
}

/* No cut may hang, crash or be taken for the whole. */
static void test_every_cut(void **state) {
    (void)state;
    rng random = {1};
    for (compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++)
        for (int level = 0; level <= 9; level += 3) {
            buffer content = make_content(&random, 6000), stream = BUFFER_INIT;
            add_stream(&stream, kind, &content, level);
            for (size_t cut = 4; cut < stream.size; cut++) {
                uint8_t *exact = must_copy(stream.data, cut);
                inflated out = {0};
                assert_int_equal(inflate_all(&out, kind, exact, cut, NO_LIMIT), INFLATE_BAD);
                assert_non_null(out.reason);
                assert_true(out.bad_at <= cut);
                free(exact);
            }
            buffer_free(&content);
            buffer_free(&stream);
        }
}

/* Every flipped bit is an error, or changes nothing (a bit of GZIP's time, or of its system). */
static void test_every_bit(void **state) {
    (void)state;
    rng random = {1};
    for (compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++) {
        buffer content = make_content(&random, 800), stream = BUFFER_INIT;
        add_stream(&stream, kind, &content, 6);
        for (size_t bit = 0; bit < stream.size * 8; bit++) {
            stream.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            inflated out = {0};
            inflate_verdict verdict =
                inflate_all(&out, kind, stream.data, stream.size, content.size + 100000);
            if (verdict == INFLATE_OK) {
                assert_int_equal(out.size, content.size);
                assert_memory_equal(out.data, content.data, content.size);
                free(out.data);
            }
            stream.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        buffer_free(&content);
        buffer_free(&stream);
    }
}

static void test_limit_and_rest(void **state) {
    (void)state;
    buffer content = BUFFER_INIT, stream = BUFFER_INIT;
    for (int i = 0; i < 1000000; i++) buffer_add_byte(&content, 0);
    add_stream(&stream, COMPRESSION_GZIP, &content, 9);
    inflated out = {0};
    assert_int_equal(inflate_all(&out, COMPRESSION_GZIP, stream.data, stream.size, 999999),
                     INFLATE_TOO_LARGE);
    assert_int_equal(inflate_all(&out, COMPRESSION_GZIP, stream.data, stream.size, 1000000),
                     INFLATE_OK);
    free(out.data);
    size_t whole = stream.size;
    buffer_add(&stream, "rest", 4);
    assert_int_equal(inflate_all(&out, COMPRESSION_GZIP, stream.data, stream.size, NO_LIMIT),
                     INFLATE_BAD);
    assert_int_equal(out.bad_at, whole);
    assert_string_equal(out.reason, "other bytes follow the compressed stream");
    buffer_free(&content);
    buffer_free(&stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),        cmocka_unit_test(test_members),
        cmocka_unit_test(test_every_cut),      cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_limit_and_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
