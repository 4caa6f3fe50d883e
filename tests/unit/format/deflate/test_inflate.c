/* Inflating GZIP and ZLIB streams: every cut and every flipped bit is detected, consecutive streams
 * are read as one, other bytes are not treated as a stream, and from every seek point all following
 * bytes are inflated as zlib inflates them. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/core/bytes.h"
#include "format/deflate/inflate.h"
#include "format/framing/tfrecord.h"
#include "support/buffer.h"
#include "support/random.h"
#include "support/rounds.h"
#include "support/shards/deflate.h"
#include "support/shards/inflate_all.h"

/* Compresses by zlib, the second opinion: window bits 31 make GZIP, 15 ZLIB. */
static void add_stream(struct buffer *stream, enum compression kind, const struct buffer *content,
                       int level) {
    struct deflate_way way = {.level = level, .memory = 8, .strategy = Z_DEFAULT_STRATEGY};
    add_deflated(stream, kind, content, &way);
}

static void assert_inflates(enum compression kind, const struct buffer *stream,
                            const struct buffer *content) {
    struct buffer out = BUFFER_INIT;
    uint64_t bad_at;
    assert_int_equal(compression_detect(stream->data, stream->size), kind);
    for (int reads = 0; reads < 2; reads++) {
        assert_int_equal(inflate_all(&out, &bad_at, kind, stream, reads), INFLATE_END);
        assert_int_equal(out.size, content->size);
        if (out.size) assert_memory_equal(out.data, content->data, content->size);
    }
    buffer_deinit(&out);
}

static void test_streams_inflate_to_their_content(void **state) {
    (void)state;
    struct rng random = {1};
    static const size_t sizes[] = {1, 100, 65535, 65536, 65537, 300000, 2000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++)
            for (int level = 0; level <= 9; level += 3) {
                struct buffer content = make_content(&random, sizes[i]), stream = BUFFER_INIT;
                add_stream(&stream, kind, &content, level);
                assert_inflates(kind, &stream, &content);
                buffer_deinit(&content);
                buffer_deinit(&stream);
            }
}

/* A damaged GZIP header is still detected as GZIP, but a valid record header takes precedence. */
static void test_compression_is_detected_by_first_bytes(void **state) {
    (void)state;
    uint8_t bytes[COMPRESSION_DETECT_SIZE] = {0x1f, 0x8b, 8};
    for (unsigned flags = 0; flags < 256; flags++) {
        bytes[3] = (uint8_t)flags;
        assert_int_equal(compression_detect(bytes, sizeof bytes), COMPRESSION_GZIP);
        assert_int_equal(compression_begins(COMPRESSION_GZIP, bytes, sizeof bytes), flags < 0x20);
        uint8_t record[COMPRESSION_DETECT_SIZE] = {0};
        tfrecord_make_header(record, load32(bytes));
        assert_int_equal(compression_detect(record, sizeof record), COMPRESSION_NONE);
    }
    assert_int_equal(compression_detect(bytes, 3), COMPRESSION_GZIP);
    assert_int_equal(compression_detect(bytes, 2), COMPRESSION_NONE);
    assert_false(compression_begins(COMPRESSION_GZIP, bytes, 3));
}

/* Several members, some of them empty, followed by zeros, must give the concatenated content. */
static void test_members_are_concatenated(void **state) {
    (void)state;
    struct rng random = {1};
    for (enum compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++)
        for (int round = 0; round < 50; round++) {
            struct buffer all = BUFFER_INIT, stream = BUFFER_INIT, empty = BUFFER_INIT;
            for (uint64_t m = 1 + rng_below(&random, 5); m > 0; m--) {
                struct buffer content = make_content(&random, 1 + rng_below(&random, 3000));
                add_stream(&stream, kind, &content, 6);
                buffer_add(&all, content.data, content.size);
                if (rng_below(&random, 2)) add_stream(&stream, kind, &empty, 6);
                buffer_deinit(&content);
            }
            for (uint64_t zeros = rng_below(&random, 600); zeros > 0; zeros--)
                buffer_add_byte(&stream, 0);
            assert_inflates(kind, &stream, &all);
            buffer_deinit(&all);
            buffer_deinit(&stream);
        }
}

/* A cut stream must not hang, crash or count as complete; the bytes before the cut are returned. */
static void test_every_cut_is_reported(void **state) {
    (void)state;
    struct rng random = {1};
    for (enum compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++)
        for (int level = 0; level <= 9; level += 3) {
            struct buffer content = make_content(&random, 6000), stream = BUFFER_INIT,
                          out = BUFFER_INIT;
            add_stream(&stream, kind, &content, level);
            for (size_t cut = 4; cut < stream.size; cut++) {
                struct buffer exact = {must_copy(stream.data, cut), cut, cut};
                uint64_t bad_at;
                assert_int_equal(inflate_all(&out, &bad_at, kind, &exact, cut % 2), INFLATE_BAD);
                assert_true(bad_at <= cut && out.size <= content.size);
                if (out.size) assert_memory_equal(out.data, content.data, out.size);
                buffer_deinit(&exact);
            }
            buffer_deinit(&out);
            buffer_deinit(&content);
            buffer_deinit(&stream);
        }
}

/* The fault of a stream, of which the end is missing. */
static struct inflate_fault fault_of_cut(const struct buffer *stream) {
    static uint8_t out[4096];
    struct inflate_source source = make_source(stream, true);
    struct inflater *inflater = inflater_create(COMPRESSION_GZIP, &source);
    size_t size;
    enum inflate_verdict verdict;
    do verdict = inflater_read(&size, inflater, out, sizeof out, false);
    while (verdict == INFLATE_OK);
    assert_int_equal(verdict, INFLATE_BAD);
    struct inflate_fault fault = *inflater_fault(inflater);
    inflater_destroy(inflater);
    return fault;
}

/* A file that is still being written has the right checksum once that is there. Another one is
 * damage, even if the size that follows it is missing. */
static void test_a_cut_trailer_has_the_right_sum_or_damage(void **state) {
    (void)state;
    enum { TRAILER = 8, SUM = 4 };
    struct rng random = {2};
    struct buffer content = make_content(&random, 800), stream = BUFFER_INIT;
    add_stream(&stream, COMPRESSION_GZIP, &content, 6);
    size_t trailer = stream.size - TRAILER;
    for (size_t cut = trailer; cut < trailer + TRAILER; cut++)
        for (int flip = 0; flip < 2 && (!flip || cut > trailer); flip++) {
            struct buffer exact = {must_copy(stream.data, cut), cut, cut};
            if (flip) exact.data[trailer] ^= 1;
            struct inflate_fault fault = fault_of_cut(&exact);
            bool is_damage = flip && cut >= trailer + SUM;
            assert_int_equal(fault.is_cut, !is_damage);
            assert_int_equal(fault.at, is_damage ? trailer : cut);
            buffer_deinit(&exact);
        }
    buffer_deinit(&content);
    buffer_deinit(&stream);
}

/* Every flipped bit is an error, or changes nothing (a bit of GZIP's time, or of its system). */
static void test_every_flipped_bit_is_an_error_or_harmless(void **state) {
    (void)state;
    struct rng random = {1};
    for (enum compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++) {
        struct buffer content = make_content(&random, 800), stream = BUFFER_INIT, out = BUFFER_INIT;
        add_stream(&stream, kind, &content, 6);
        for (size_t bit = 0; bit < stream.size * 8; bit++) {
            uint64_t bad_at;
            stream.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (inflate_all(&out, &bad_at, kind, &stream, bit % 2) == INFLATE_END) {
                assert_int_equal(out.size, content.size);
                assert_memory_equal(out.data, content.data, content.size);
            } else {
                assert_in_range(bad_at, 0, stream.size);
            }
            stream.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        buffer_deinit(&out);
        buffer_deinit(&content);
        buffer_deinit(&stream);
    }
}

static void test_bytes_after_a_stream_are_left(void **state) {
    (void)state;
    struct rng random = {1};
    struct buffer content = make_content(&random, 5000), stream = BUFFER_INIT, out = BUFFER_INIT;
    add_stream(&stream, COMPRESSION_GZIP, &content, 9);
    size_t whole = stream.size;
    buffer_add(&stream, "rest", 4);
    uint64_t bad_at;
    assert_int_equal(inflate_all(&out, &bad_at, COMPRESSION_GZIP, &stream, false), INFLATE_BAD);
    assert_int_equal(bad_at, whole);
    assert_int_equal(out.size, content.size);
    buffer_deinit(&out);
    buffer_deinit(&content);
    buffer_deinit(&stream);
}

/* ---- points ---- */

/* A place between two blocks, as zlib tells it. */
struct boundary {
    uint64_t bit, offset;
};

struct boundaries {
    struct boundary *list;
    size_t count, capacity;
};

static void add_boundary(struct boundaries *boundaries, uint64_t bit, uint64_t offset) {
    if (boundaries->count == boundaries->capacity) {
        boundaries->capacity = boundaries->capacity * 2 + 16;
        boundaries->list =
            must_realloc(boundaries->list, boundaries->capacity * sizeof *boundaries->list);
    }
    boundaries->list[boundaries->count++] = (struct boundary){bit, offset};
}

/* All ends of blocks that others follow, and where the first block begins. */
static struct boundaries list_boundaries(enum compression kind, const struct buffer *stream,
                                         const struct buffer *content) {
    struct boundaries all = {0};
    z_stream zs = {0};
    static uint8_t out[1 << 16];
    assert_int_equal(inflateInit2(&zs, kind == COMPRESSION_GZIP ? 31 : 15), Z_OK);
    zs.next_in = stream->data;
    zs.avail_in = (uInt)stream->size;
    for (int result = Z_OK; result != Z_STREAM_END;) {
        zs.next_out = out;
        zs.avail_out = sizeof out;
        result = inflate(&zs, Z_BLOCK);
        assert_true(result == Z_OK || result == Z_STREAM_END);
        if ((zs.data_type & 128) && !(zs.data_type & 64))
            add_boundary(&all, (uint64_t)(zs.next_in - stream->data) * 8 - (zs.data_type & 7),
                         zs.total_out);
    }
    assert_int_equal(zs.total_out, content->size);
    inflateEnd(&zs);
    return all;
}

static bool is_boundary(const struct boundaries *boundaries, const struct seek_point *point) {
    for (size_t i = 0; i < boundaries->count; i++)
        if (boundaries->list[i].bit == point->bit)
            return boundaries->list[i].offset == point->offset;
    return false;
}

/* Inflating from a seek point gives the content after it. */
static void assert_continues(struct inflater *inflater, const struct seek_point *point,
                             const struct buffer *content, size_t step_max) {
    size_t due = content->size - (size_t)point->offset, got = 0;
    if (due > step_max) due = step_max;
    uint8_t *out = must_realloc(NULL, due + 1);
    assert_true(inflater_start_at(inflater, point));
    while (got < due) {
        size_t size;
        enum inflate_verdict verdict = inflater_read(&size, inflater, out + got, due - got, false);
        assert_true(verdict == INFLATE_OK || verdict == INFLATE_END);
        assert_true(size || got == due);
        got += size;
    }
    assert_memory_equal(out, content->data + point->offset, due);
    free(out);
}

/* Inflates in pieces, takes a seek point now and then, and inflates again from each. */
static size_t check_points(enum compression kind, const struct buffer *stream,
                           const struct buffer *content, const struct boundaries *boundaries,
                           size_t step, bool reads, struct rng *random) {
    struct inflate_source source = make_source(stream, reads);
    struct inflater *in = inflater_create(kind, &source), *other = inflater_create(kind, &source);
    uint8_t *out = must_realloc(NULL, content->size + step + 1);
    size_t got = 0, found = 0;
    for (bool wants = false;;) {
        size_t size, room = 1 + (size_t)rng_below(random, step);
        enum inflate_verdict verdict = inflater_read(&size, in, out + got, room, wants);
        got += size;
        assert_true(got <= content->size);
        if (verdict == INFLATE_END) break;
        assert_true(verdict == INFLATE_OK || verdict == INFLATE_AT_POINT);
        if (verdict == INFLATE_AT_POINT) {
            struct seek_point point = inflater_point(in);
            assert_true(is_boundary(boundaries, &point));
            assert_true(point.window_size <= point.offset);
            assert_memory_equal(point.window, content->data + point.offset - point.window_size,
                                point.window_size);
            assert_continues(other, &point, content, found % 64 ? 70000 : SIZE_MAX);
            found++;
        }
        wants = verdict == INFLATE_OK && rng_below(random, 3) == 0;
    }
    assert_int_equal(got, content->size);
    if (got) assert_memory_equal(out, content->data, got);
    free(out);
    inflater_destroy(in);
    inflater_destroy(other);
    return found;
}

static void check_stream(enum compression kind, const struct buffer *stream,
                         const struct buffer *content, struct rng *random) {
    static const size_t steps[] = {1000, 40000, 200000, 3000000};
    struct boundaries all = list_boundaries(kind, stream, content);
    size_t found = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        found += check_points(kind, stream, content, &all, steps[i], i % 2, random);
    assert_true(found || all.count < 20 || content->size < 100000);
    free(all.list);
}

/* Text, noise and runs, so that all kinds of blocks come. */
static struct buffer make_mixed(struct rng *random, size_t size) {
    struct buffer content = BUFFER_INIT;
    while (content.size < size) {
        switch (rng_below(random, 4)) {
        case 0: buffer_add_random(&content, rng_below(random, 60000), random); break;
        case 1:
            for (uint64_t i = rng_below(random, 90000); i > 0; i--)
                buffer_add_byte(&content, (uint8_t)('a' + rng_below(random, 6)));
            break;
        case 2:
            for (uint64_t i = rng_below(random, 200000); i > 0; i--) buffer_add_byte(&content, 7);
            break;
        default:
            for (uint64_t i = rng_below(random, 300); content.size > 40000 && i > 0; i--) {
                uint8_t again[258];
                size_t length = 3 + (size_t)rng_below(random, 255);
                memcpy(again, content.data + content.size - 300 - rng_below(random, 32000), length);
                buffer_add(&content, again, length);
            }
        }
    }
    return content;
}

static void test_inflating_can_start_at_each_point(void **state) {
    (void)state;
    struct rng random = {7};
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    for (int level = 0; level <= 9; level += is_short() ? 3 : 1)
        for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
            enum compression kind = (level + i) % 2 ? COMPRESSION_GZIP : COMPRESSION_ZLIB;
            struct buffer content = make_mixed(&random, 700000), stream = BUFFER_INIT;
            struct deflate_way way = {level, 1 + (int)(level + i) % 9, strategies[i], 0, 0};
            add_deflated(&stream, kind, &content, &way);
            check_stream(kind, &stream, &content, &random);
            buffer_deinit(&content);
            buffer_deinit(&stream);
        }
}

/* Flushes make tiny blocks, and blocks of nothing. */
static void test_points_of_flushes(void **state) {
    (void)state;
    struct rng random = {8};
    const int level_step = short_level() > 1 ? 9 : 3;
    static const int flushes[] = {Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
    for (size_t i = 0; i < sizeof flushes / sizeof *flushes; i++)
        for (size_t every = 1; every < 200000; every *= 30)
            for (int level = 0; level <= 9; level += level_step) {
                struct buffer content = make_mixed(&random, every == 1 ? 5000 : 400000);
                if (every == 1) content.size = 5000;
                struct buffer stream = BUFFER_INIT;
                struct deflate_way way = {level, 8, Z_DEFAULT_STRATEGY, flushes[i], every};
                add_deflated(&stream, COMPRESSION_ZLIB, &content, &way);
                check_stream(COMPRESSION_ZLIB, &stream, &content, &random);
                buffer_deinit(&content);
                buffer_deinit(&stream);
            }
}

/* Random bytes with many false GZIP headers, followed by a real member. The search must find the
 * real one and may not accept a false one. */
static void test_the_next_real_member_is_found(void **state) {
    (void)state;
    struct rng random = {9};
    for (unsigned round = 0; round < some_rounds(100); round++) {
        struct buffer stream = BUFFER_INIT;
        size_t noise = (size_t)rng_below(&random, 300000);
        buffer_add_random(&stream, noise, &random);
        for (int i = 0; i < 20 && noise > 100; i++)
            memcpy(stream.data + rng_below(&random, noise - 4), "\x1f\x8b\x08\0", 4);
        struct buffer content = make_content(&random, 1 + rng_below(&random, 100000));
        add_stream(&stream, COMPRESSION_GZIP, &content, 6);
        for (int reads = 0; reads < 2; reads++) {
            struct inflate_source source = make_source(&stream, reads);
            struct inflater *in = inflater_create(COMPRESSION_GZIP, &source);
            assert_int_equal(inflater_find_member(in, 0), noise);
            assert_true(inflater_find_member(in, noise + 1) == UINT64_MAX);
            inflater_destroy(in);
        }
        buffer_deinit(&content);
        buffer_deinit(&stream);
    }
}

/* A member that ends well is one, however soon damage follows it. */
static void test_a_member_before_damage_is_found(void **state) {
    (void)state;
    struct rng random = {4};
    struct buffer content = make_content(&random, 2000), stream = BUFFER_INIT;
    add_stream(&stream, COMPRESSION_GZIP, &content, 6);
    size_t member = stream.size;
    add_stream(&stream, COMPRESSION_GZIP, &content, 6);
    buffer_add(&stream, "\x1f\x8b\x08\0\0\0\0\0\0\0\xff", 11);
    struct inflate_source source = make_source(&stream, true);
    struct inflater *in = inflater_create_strict(COMPRESSION_GZIP, &source);
    assert_int_equal(inflater_find_member(in, 1), member);
    inflater_destroy(in);
    buffer_deinit(&content);
    buffer_deinit(&stream);
}

/* Reads a stream and counts the bytes. */
struct counted_source {
    const struct buffer *stream;
    uint64_t read_size;
};

static recmap_status read_counted(void *context, void *data, size_t size, uint64_t offset,
                                  recmap_error *error) {
    struct counted_source *counted = context;
    (void)error;
    assert_true(offset <= counted->stream->size && size <= counted->stream->size - offset);
    memcpy(data, counted->stream->data + offset, size);
    counted->read_size += size;
    return RECMAP_OK;
}

/* Returns the number of bytes read by a search for a member in a stream that has none, only one
 * piece again and again. */
static uint64_t count_search(const void *piece, size_t size, int count) {
    struct buffer stream = BUFFER_INIT;
    for (int i = 0; i < count; i++) buffer_add(&stream, piece, size);
    struct counted_source counted = {&stream, 0};
    struct inflate_source source = {.size = stream.size, .read = read_counted, .context = &counted};
    struct inflater *inflater = inflater_create(COMPRESSION_GZIP, &source);
    assert_true(inflater_find_member(inflater, 0) == UINT64_MAX);
    inflater_destroy(inflater);
    buffer_deinit(&stream);
    return counted.read_size;
}

/* A first magic byte costs nothing, and a header without a member a few KiB, not the whole input
 * that is read ahead. */
static void test_a_search_reads_little_again(void **state) {
    (void)state;
    enum { COUNT = 30000 };
    static const char byte[] = "\x1f.............................";
    static const char header[] = "\x1f\x8b\x08\0......\xff\xff..................";
    uint64_t size = COUNT * (uint64_t)(sizeof byte - 1);
    assert_in_range(count_search(byte, sizeof byte - 1, COUNT), size, size + 100);
    assert_in_range(count_search(header, sizeof header - 1, COUNT), size,
                    size + COUNT * UINT64_C(10000));
}

/* What a stream inflates to from some bit on, by an inflater in memory that was filled before. */
static void inflate_from_bit(struct buffer *out, const struct buffer *stream, uint64_t bit,
                             int fill) {
    enum { ROOM = 4096 };
    static const uint8_t window[100];
    struct inflate_source source = {.bytes = stream->data, .size = stream->size};
    struct seek_point point = {
        .bit = bit, .offset = 100, .window = window, .window_size = sizeof window};
    size_t size;
    mallopt(M_PERTURB, fill);
    struct inflater *inflater = inflater_create(COMPRESSION_ZLIB, &source);
    mallopt(M_PERTURB, 0);
    assert_non_null(inflater);
    assert_true(inflater_start_at(inflater, &point));
    out->size = 0;
    for (size_t i = 0; i < ROOM; i++) buffer_add_byte(out, 0);
    inflater_read(&size, inflater, out->data, ROOM, false);
    out->size = size;
    inflater_destroy(inflater);
}

/* A bit that a forged index names begins no block: what comes out of such bits depends on nothing
 * but them. Codes that leave symbols out made ISA-L look where it had never written. */
static void test_no_heap_bytes_are_returned(void **state) {
    (void)state;
    struct rng random = {7};
    struct buffer outs[2] = {BUFFER_INIT, BUFFER_INIT};
    size_t came = 0;
    for (unsigned i = 0; i < some_rounds(20); i++) {
        struct buffer stream = BUFFER_INIT, content = make_content(&random, 2000);
        struct deflate_way way = {.level = 1, .memory = 1};
        add_deflated(&stream, COMPRESSION_ZLIB, &content, &way);
        for (uint64_t bit = 0; bit < 8 * stream.size; bit++) {
            for (int k = 0; k < 2; k++) inflate_from_bit(&outs[k], &stream, bit, k ? 0x33 : 0xcc);
            came += outs[0].size;
            assert_int_equal(outs[0].size, outs[1].size);
            assert_memory_equal(outs[0].data, outs[1].data, outs[0].size);
        }
        buffer_deinit(&stream);
        buffer_deinit(&content);
    }
    assert_true(came > 0);
    buffer_deinit(&outs[0]);
    buffer_deinit(&outs[1]);
}

/* Inflates in small reads and, after each one, continues with a copy of a saved copy. Returns
 * whether the output is the content. */
static bool inflates_by_copies(enum compression kind, const struct buffer *stream,
                               const struct buffer *content, size_t read_size) {
    struct inflate_source source = make_source(stream, true);
    struct inflater *inflater = inflater_create(kind, &source);
    uint8_t *out = must_realloc(NULL, read_size);
    size_t size, done = 0;
    enum inflate_verdict verdict = INFLATE_OK;
    bool is_same = true;
    while (verdict == INFLATE_OK && is_same) {
        verdict = inflater_read(&size, inflater, out, read_size, false);
        is_same = size <= content->size - done && !memcmp(out, content->data + done, size);
        done += size;
        struct inflater *saved = inflater_copy(inflater, NULL);
        inflater_destroy(inflater);
        inflater = inflater_copy(saved, &source);
        inflater_destroy(saved);
    }
    free(out);
    inflater_destroy(inflater);
    return is_same && verdict == INFLATE_END && done == content->size;
}

/* At the end of a block, ISA-L steps back over input bytes that it has taken in advance. A copy has
 * dropped its input, so it must keep the bytes before its position. Here blocks are short, and many
 * are stored, which start at a byte: the steps back occur next to every copy. */
static void test_a_copied_decoder_continues_alone(void **state) {
    (void)state;
    struct rng random = {21};
    for (int level = 0; level <= 6; level += 3)
        for (enum compression kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZLIB; kind++) {
            struct buffer stream = BUFFER_INIT, whole = BUFFER_INIT;
            for (int member = 0; member < 40; member++) {
                struct buffer content = make_content(&random, 1 + rng_below(&random, 900));
                struct deflate_way way = {.level = level,
                                          .memory = 8,
                                          .strategy = Z_DEFAULT_STRATEGY,
                                          .flush = Z_FULL_FLUSH,
                                          .every = 100};
                add_deflated(&stream, kind, &content, &way);
                buffer_add(&whole, content.data, content.size);
                buffer_deinit(&content);
            }
            for (size_t read_size = 1; read_size < 40; read_size += 3)
                assert_true(inflates_by_copies(kind, &stream, &whole, read_size));
            buffer_deinit(&stream);
            buffer_deinit(&whole);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_inflate_to_their_content),
        cmocka_unit_test(test_compression_is_detected_by_first_bytes),
        cmocka_unit_test(test_members_are_concatenated),
        cmocka_unit_test(test_every_cut_is_reported),
        cmocka_unit_test(test_a_cut_trailer_has_the_right_sum_or_damage),
        cmocka_unit_test(test_every_flipped_bit_is_an_error_or_harmless),
        cmocka_unit_test(test_bytes_after_a_stream_are_left),
        cmocka_unit_test(test_inflating_can_start_at_each_point),
        cmocka_unit_test(test_points_of_flushes),
        cmocka_unit_test(test_the_next_real_member_is_found),
        cmocka_unit_test(test_a_member_before_damage_is_found),
        cmocka_unit_test(test_a_search_reads_little_again),
        cmocka_unit_test(test_no_heap_bytes_are_returned),
        cmocka_unit_test(test_a_copied_decoder_continues_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
