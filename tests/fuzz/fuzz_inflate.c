/* Any bytes as a compressed stream, and as the content of one: inflating ends, the result equals
 * zlib's, exactly if it is inflated strictly, and inflating from any seek point and any saved
 * position gives the same bytes. The first two bytes choose the variant. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "format/deflate/inflate.h"
#include "fuzz/fuzz.h"
#include "support/shards/deflate.h"

enum { OUT_MAX = 1 << 20, BEHIND_MAX = 4096 };

static void check(bool holds) {
    if (!holds) abort();
}

/* Inflates the members of a stream with zlib, up to its end or the first fault. */
static size_t inflate_by_zlib(uint8_t *out, enum compression kind, const struct buffer *stream) {
    z_stream zs = {0};
    check(inflateInit2(&zs, kind == COMPRESSION_GZIP ? 31 : 15) == Z_OK);
    zs.next_in = stream->data;
    zs.avail_in = (uInt)stream->size;
    zs.next_out = out;
    zs.avail_out = OUT_MAX;
    while (inflate(&zs, Z_SYNC_FLUSH) == Z_STREAM_END && zs.avail_out &&
           compression_begins(kind, zs.next_in, zs.avail_in))
        check(inflateReset(&zs) == Z_OK);
    inflateEnd(&zs);
    return OUT_MAX - zs.avail_out;
}

/* From a point on come the bytes that come without it. */
static void check_point(struct inflater *other, const struct seek_point *point, const uint8_t *due,
                        size_t due_size) {
    uint8_t out[BEHIND_MAX];
    if (point->offset >= due_size) return;
    size_t size, max = due_size - (size_t)point->offset;
    check(inflater_start_at(other, point));
    inflater_read(&size, other, out, max < sizeof out ? max : sizeof out, false);
    check(size == (max < sizeof out ? max : sizeof out));
    check(!memcmp(out, due + point->offset, size));
}

/* As a file that is not in memory gives them. */
static recmap_status read_bytes(void *context, void *data, size_t size, uint64_t offset,
                                recmap_error *error) {
    const struct buffer *stream = context;
    (void)error;
    check(offset <= stream->size && size <= stream->size - offset);
    memcpy(data, stream->data + offset, size);
    return RECMAP_OK;
}

/* A place that was kept. */
struct place {
    struct inflater *kept;
    size_t offset;
    uint64_t position;
};

/* Seldom, but each byte near the end, which was read and may have to be given back. */
static bool is_wanted(const struct place *last, const struct inflater *inflater,
                      const struct buffer *stream, size_t turn) {
    uint64_t position = inflater_position(inflater);
    return !(turn & (turn - 1)) || (position != last->position && position + 24 >= stream->size);
}

static void keep_place(struct place *out, const struct inflater *inflater, size_t offset) {
    inflater_destroy(out->kept);
    *out = (struct place){inflater_copy(inflater, NULL), offset, inflater_position(inflater)};
    check(out->kept && inflater_offset(out->kept) == offset);
}

/* From a place on come the bytes, and the end, that came without it: twice, since it stays. */
static void check_place(const struct place *place, const struct inflate_source *source,
                        enum inflate_verdict due, const uint8_t *bytes, size_t count) {
    static uint8_t out[OUT_MAX];
    for (int turn = 0; turn < 2; turn++) {
        struct inflater *in = inflater_copy(place->kept, source);
        check(in);
        size_t done = place->offset, size;
        enum inflate_verdict verdict = INFLATE_OK;
        while ((verdict == INFLATE_OK || verdict == INFLATE_WRONG_SUM) && done < OUT_MAX) {
            verdict = inflater_read(&size, in, out + done, OUT_MAX - done, false);
            done += size;
        }
        check(done == count && (verdict == due || count == OUT_MAX));
        check(!memcmp(out + place->offset, bytes + place->offset, count - place->offset));
        inflater_destroy(in);
    }
}

/* Inflates in steps and requests seek points on the way, then compares with zlib's result. Each
 * seek point, and one saved position, must reproduce the rest of the stream. */
static void check_stream(enum compression kind, const struct buffer *stream, bool is_good,
                         bool is_read, size_t step) {
    static uint8_t due[OUT_MAX], out[OUT_MAX];
    size_t due_size = inflate_by_zlib(due, kind, stream), count = 0;
    struct inflate_source source = {.bytes = is_read ? NULL : stream->data,
                                    .size = stream->size,
                                    .read = read_bytes,
                                    .context = (void *)stream};
    struct place place = {0};
    struct inflater *in = inflater_create(kind, &source), *other = inflater_create(kind, &source);
    check(in && other);
    enum inflate_verdict verdict = INFLATE_OK;
    bool wants = false;
    for (size_t turn = 0; count < OUT_MAX; turn++) {
        size_t size, room = step < OUT_MAX - count ? step : OUT_MAX - count;
        verdict = inflater_read(&size, in, out + count, room, wants);
        count += size;
        check(inflater_position(in) <= stream->size);
        if (verdict == INFLATE_AT_POINT && is_good) {
            struct seek_point point = inflater_point(in);
            check_point(other, &point, due, due_size);
        }
        check(verdict != INFLATE_BAD || inflater_fault(in)->at <= stream->size);
        if (verdict == INFLATE_END || verdict == INFLATE_BAD) break;
        wants = verdict == INFLATE_OK && !wants;
        if (is_wanted(&place, in, stream, turn)) keep_place(&place, in, count);
    }
    check(!memcmp(out, due, count < due_size ? count : due_size));
    check(!is_good || (count == due_size && (verdict == INFLATE_END || count == OUT_MAX)));
    if (place.kept) check_place(&place, &source, verdict, out, count);
    inflater_find_member(in, 1);
    inflater_destroy(place.kept);
    inflater_destroy(in);
    inflater_destroy(other);
}

/* The strict inflater gives what zlib gives, however damaged the stream is, and stops at points on
 * the way. zlib knows no padding, and has to be told whether a member follows. */
static void check_strictly(enum compression kind, const struct buffer *stream, bool is_read,
                           size_t step) {
    static uint8_t due[OUT_MAX], out[OUT_MAX];
    size_t due_size = inflate_by_zlib(due, kind, stream), count = 0, size;
    struct inflate_source source = {.bytes = is_read ? NULL : stream->data,
                                    .size = stream->size,
                                    .read = read_bytes,
                                    .context = (void *)stream};
    struct inflater *in = inflater_create_strict(kind, &source);
    enum inflate_verdict verdict = INFLATE_OK;
    check(in);
    while (count < OUT_MAX && (verdict == INFLATE_OK || verdict == INFLATE_AT_POINT)) {
        bool wants = verdict == INFLATE_OK && count % 2;
        size_t room = step < OUT_MAX - count ? step : OUT_MAX - count;
        verdict = inflater_read(&size, in, out + count, room, wants);
        check(size <= room);
        count += size;
    }
    check(count == due_size && !memcmp(out, due, count));
    check(inflater_fault(in)->at <= stream->size && inflater_position(in) <= stream->size);
    inflater_find_member(in, 1);
    inflater_destroy(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3 || size > OUT_MAX / 2) return 0;
    enum compression kind = data[0] & 1 ? COMPRESSION_GZIP : COMPRESSION_ZLIB;
    bool is_read = data[0] & 128;
    size_t step = 1 + (size_t)(data[1] & 15) * 777;
    struct buffer bytes = {(uint8_t *)data + 2, size - 2, 0}, stream = BUFFER_INIT;
    check_stream(kind, &bytes, false, is_read, step);
    check_strictly(kind, &bytes, is_read, step);
    struct deflate_way way = {.level = data[0] >> 1 & 7,
                              .memory = 1 + (data[1] >> 4) % 9,
                              .strategy = data[0] >> 4 & 3,
                              .flush = data[0] & 64 ? Z_FULL_FLUSH : 0,
                              .every = 1 + (size_t)data[1]};
    add_deflated(&stream, kind, &bytes, &way);
    if (kind == COMPRESSION_GZIP) add_deflated(&stream, kind, &bytes, &way);
    check_stream(kind, &stream, true, is_read, step);
    check_strictly(kind, &stream, is_read, step);
    buffer_deinit(&stream);
    return 0;
}
