/* Inflating damaged GZIP and ZLIB streams: what is damage, and which bytes come before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/core/bytes.h"
#include "format/deflate/inflate.h"
#include "support/buffer.h"
#include "support/random.h"
#include "support/rounds.h"
#include "support/shards/deflate.h"
#include "support/shards/inflate_all.h"

/* What zlib makes of a stream: its output, and its message about what is wrong, or NULL. It is told
 * to continue with the next member only if no padding follows. */
static const char *inflate_by_zlib(struct buffer *out, enum compression kind,
                                   const struct buffer *stream) {
    static uint8_t piece[1 << 16];
    z_stream zs = {0};
    int result = Z_OK;
    assert_int_equal(inflateInit2(&zs, kind == COMPRESSION_GZIP ? 31 : 15), Z_OK);
    zs.next_in = stream->data;
    zs.avail_in = (uInt)stream->size;
    out->size = 0;
    while (result == Z_OK) {
        zs.next_out = piece;
        zs.avail_out = sizeof piece;
        result = inflate(&zs, Z_NO_FLUSH);
        buffer_add(out, piece, sizeof piece - zs.avail_out);
        if (result != Z_STREAM_END || !zs.avail_in) continue;
        if (!compression_begins(kind, zs.next_in, zs.avail_in)) break;
        result = inflateReset(&zs);
    }
    const char *message = result == Z_STREAM_END ? NULL : result == Z_BUF_ERROR ? "cut" : zs.msg;
    if (result == Z_NEED_DICT) message = "dictionary";
    inflateEnd(&zs);
    return message;
}

/* zlib's messages, and the inflater's reason. */
static const char *const reasons[][2] = {
    {"cut", "the file ends inside"},
    {"dictionary", "it needs a preset dictionary"},
    {"incorrect header check", "a header is malformed|the checksum of a header"},
    {"unknown compression method", "the compression method"},
    {"invalid window size", "a header is malformed"},
    {"unknown header flags set", "a header has flags"},
    {"header crc mismatch", "the checksum of a header is wrong"},
    {"invalid block type", "a deflate block is"},
    {"invalid stored block lengths", "a deflate block is"},
    {"too many length or distance symbols", "a deflate block is"},
    {"invalid code lengths set", "a deflate block is"},
    {"invalid bit length repeat", "a deflate block is"},
    {"invalid code -- missing end-of-block", "a deflate block is"},
    {"invalid literal/lengths set", "a deflate block is"},
    {"invalid distances set", "a deflate block is"},
    {"invalid literal/length code", "a deflate symbol is"},
    {"invalid distance code", "a deflate symbol is"},
    {"invalid distance too far back", "a deflate distance reaches"},
    {"incorrect data check", "its checksum is wrong"},
    {"incorrect length check", "its checksum is wrong"},
};

enum { REASONS = sizeof reasons / sizeof *reasons };

/* Asserts that the inflater's reason is what zlib says, and counts it. */
static void count_reason(size_t counts[REASONS], const char *message, const char *reason) {
    for (size_t i = 0; i < REASONS; i++) {
        if (strcmp(reasons[i][0], message)) continue;
        const char *other = strchr(reasons[i][1], '|');
        size_t size = other ? (size_t)(other - reasons[i][1]) : strlen(reasons[i][1]);
        if (strncmp(reason, reasons[i][1], size) &&
            !(other && !strncmp(reason, other + 1, strlen(other + 1))))
            fail_msg("zlib says: %s, the inflater: %s", message, reason);
        counts[i]++;
        return;
    }
    fail_msg("zlib says: %s", message);
}

/* No byte before the one that the inflater names is bad: zlib finds the bytes before it too few. */
static void assert_good_before(enum compression kind, const struct buffer *stream, uint64_t bad_at,
                               size_t out_size) {
    struct buffer before = {stream->data, (size_t)bad_at, 0}, out = BUFFER_INIT;
    assert_string_equal(inflate_by_zlib(&out, kind, &before), "cut");
    assert_in_range(out.size, 0, out_size);
    /* A byte has at most 8 symbols, of at most 258 bytes. */
    assert_in_range(out_size, out.size, out.size + 8 * 258);
    buffer_deinit(&out);
}

/* Inflates strictly in reads of random sizes, some of which stop at points. */
static const char *inflate_strictly(struct buffer *out, uint64_t *bad_at, enum compression kind,
                                    const struct buffer *stream, struct rng *random) {
    static uint8_t piece[70000];
    struct inflate_source source = make_source(stream, rng_below(random, 2));
    struct inflater *in = inflater_create_strict(kind, &source);
    size_t size, step = 1 + (size_t)rng_below(random, rng_below(random, 2) ? 50 : sizeof piece);
    enum inflate_verdict verdict;
    bool wants = false;
    assert_non_null(in);
    out->size = 0;
    do {
        verdict = inflater_read(&size, in, piece, step, wants);
        assert_in_range(size, 0, step);
        buffer_add(out, piece, size);
        wants = verdict == INFLATE_OK && !rng_below(random, 3);
    } while (verdict == INFLATE_OK || verdict == INFLATE_AT_POINT);
    const char *reason = verdict == INFLATE_END ? NULL : inflater_fault(in)->reason;
    *bad_at = inflater_fault(in)->at;
    inflater_destroy(in);
    return reason;
}

/* A block whose code for sizes has no symbols cannot be read. zlib reads on as far as the sizes
 * would reach, and then misses the symbol that ends the block; of a stream that ends earlier, it
 * says that it was cut. */
static const char *read_on(const char *message, enum compression kind, const struct buffer *stream,
                           const char *reason) {
    if (strcmp(message, "cut") || strncmp(reason, "a deflate block", 15)) return message;
    struct buffer more = BUFFER_INIT, out = BUFFER_INIT;
    buffer_add(&more, stream->data, stream->size);
    for (int i = 0; i < 64; i++) buffer_add_byte(&more, 0);
    message = inflate_by_zlib(&out, kind, &more);
    assert_string_equal(message, "invalid code -- missing end-of-block");
    buffer_deinit(&more);
    buffer_deinit(&out);
    return message;
}

static void assert_strict_as_zlib(size_t counts[REASONS], enum compression kind,
                                  const struct buffer *stream, struct rng *random) {
    struct buffer due = BUFFER_INIT, out = BUFFER_INIT;
    uint64_t bad_at;
    const char *message = inflate_by_zlib(&due, kind, stream);
    const char *reason = inflate_strictly(&out, &bad_at, kind, stream, random);
    assert_int_equal(out.size, due.size);
    if (out.size) assert_memory_equal(out.data, due.data, out.size);
    if (message) {
        assert_non_null(reason);
        count_reason(counts, read_on(message, kind, stream, reason), reason);
        if (!strncmp(reason, "a deflate", 9)) assert_good_before(kind, stream, bad_at, out.size);
    } else if (reason) {
        assert_string_equal(reason, "other bytes follow the compressed stream");
    }
    buffer_deinit(&due);
    buffer_deinit(&out);
}

/* A stream of any level and strategy, in blocks of any size, and with a GZIP header of all parts if
 * it can have one. */
static void add_any_stream(struct buffer *stream, enum compression kind, struct rng *random) {
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    struct buffer content = make_content(random, 1 + rng_below(random, 4000));
    struct deflate_way way = {.level = (int)rng_below(random, 10),
                              .memory = 1 + (int)rng_below(random, 9),
                              .strategy = strategies[rng_below(random, 4)],
                              .flush = rng_below(random, 2) ? Z_FULL_FLUSH : 0,
                              .every = 1 + (size_t)rng_below(random, 1000)};
    add_deflated(stream, kind, &content, &way);
    buffer_deinit(&content);
}

/* A header whose checksum is right: of another window, or of a dictionary. */
static void change_zlib_header(uint8_t *header, struct rng *random) {
    header[0] = (uint8_t)(rng_below(random, 16) << 4 | 8);
    header[1] = (uint8_t)(rng_below(random, 2) << 5);
    header[1] = (uint8_t)(header[1] + 31 - ((unsigned)header[0] << 8 | header[1]) % 31);
}

/* Damages a stream: flips a bit, cuts it, or replaces a piece by noise. */
static void damage(struct buffer *stream, enum compression kind, struct rng *random) {
    size_t at = (size_t)rng_below(random, stream->size);
    if (rng_below(random, 3) == 0) at = (size_t)min_u64(at, rng_below(random, 40));
    switch (rng_below(random, 8)) {
    case 0: stream->size = at + 1; break;
    case 1:
        if (kind == COMPRESSION_ZLIB) change_zlib_header(stream->data, random);
        break;
    case 2:
        for (size_t end = at + 8; at < stream->size && at < end; at++)
            stream->data[at] = (uint8_t)rng_below(random, 256);
        break;
    default: stream->data[at] ^= (uint8_t)(1 << rng_below(random, 8));
    }
}

/* zlib is the independent judge of what is damage and what comes before it. All its messages about
 * the contents of a stream have to occur, so that each kind of damage is compared. */
static void test_damaged_streams_inflate_as_by_zlib(void **state) {
    (void)state;
    struct rng random = {31};
    size_t counts[REASONS] = {0};
    for (int round = 0; round < (is_short() ? 8000 : 100000); round++) {
        enum compression kind = rng_below(&random, 2) ? COMPRESSION_GZIP : COMPRESSION_ZLIB;
        struct buffer stream = BUFFER_INIT;
        add_any_stream(&stream, kind, &random);
        if (kind == COMPRESSION_GZIP && rng_below(&random, 3) == 0)
            add_any_stream(&stream, kind, &random);
        if (rng_below(&random, 20)) damage(&stream, kind, &random);
        assert_strict_as_zlib(counts, kind, &stream, &random);
        buffer_deinit(&stream);
    }
    for (size_t i = 0; i < REASONS; i++) assert_true(counts[i]);
}

struct bit_writer {
    struct buffer *out;
    unsigned bits, count;
};

/* Writes a code of RFC 1951, whose first bit is its highest. */
static void write_code(struct bit_writer *writer, unsigned code, int size) {
    while (size--) {
        writer->bits |= (code >> size & 1) << writer->count;
        if (++writer->count < 8) continue;
        buffer_add_byte(writer->out, (uint8_t)writer->bits);
        writer->bits = writer->count = 0;
    }
}

/* ISA-L may end at an error with a wrong count of the bytes that it wrote: here, at a distance that
 * is reserved. However close to the end of the room that happens, no more bytes than the room has
 * are returned, and the first of them are those before the damage. */
static void test_no_more_than_the_room_is_returned(void **state) {
    (void)state;
    enum { LITERALS = 200000, CODE_OF_0 = 0x30, LONGEST_COPY = 0xc5, RESERVED_DISTANCE = 0x1f };
    struct buffer stream = BUFFER_INIT;
    struct bit_writer writer = {.out = &stream};
    buffer_add(&stream, "\x1f\x8b\x08\0\0\0\0\0\0\0", 10);
    write_code(&writer, 2, 3); /* a block of fixed codes */
    for (int i = 0; i < LITERALS; i++) write_code(&writer, CODE_OF_0 + (unsigned)i % 100, 8);
    write_code(&writer, LONGEST_COPY, 8);
    write_code(&writer, RESERVED_DISTANCE, 5);
    for (int i = 0; i < 100; i++) write_code(&writer, 0, 8);
    uint8_t *out = must_realloc(NULL, LITERALS + 2000), *due = must_realloc(NULL, LITERALS);
    for (int i = 0; i < LITERALS; i++) due[i] = (uint8_t)(i % 100);
    struct inflate_source source = make_source(&stream, false);
    for (size_t room = LITERALS; room < LITERALS + 1000; room++) {
        struct inflater *in = inflater_create(COMPRESSION_GZIP, &source);
        size_t size;
        inflater_read(&size, in, out, room, false);
        assert_in_range(size, LITERALS, room);
        assert_memory_equal(out, due, LITERALS);
        inflater_destroy(in);
    }
    free(out);
    free(due);
    buffer_deinit(&stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_streams_inflate_as_by_zlib),
        cmocka_unit_test(test_no_more_than_the_room_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
