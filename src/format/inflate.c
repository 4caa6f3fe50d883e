#include "format/inflate.h"

#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/tfrecord.h"

static const char *const names[] = {"none", "gzip", "zlib"};

const char *compression_name(compression kind) {
    return names[kind];
}

/* A header of RFC 1952: magic, deflate, no reserved flags. */
static bool begins_gzip(const uint8_t *bytes, uint64_t size) {
    return size >= 4 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8 && bytes[3] < 0x20;
}

/* A header of RFC 1950: deflate, a window of at most 32 KB, its check, no dictionary. */
static bool begins_zlib(const uint8_t *bytes, uint64_t size) {
    return size >= 2 && (bytes[0] & 0x0f) == 8 && bytes[0] >> 4 <= 7 && !(bytes[1] & 0x20) &&
           ((unsigned)bytes[0] << 8 | bytes[1]) % 31 == 0;
}

/* The upper half of a record's length is zeros, even in a header that is damaged elsewhere; in the
 * first bytes of a ZLIB stream it is not. */
static bool begins_length(const uint8_t *bytes, uint64_t size) {
    return size >= 8 && load32(bytes + 4) == 0;
}

compression compression_detect(const uint8_t *bytes, size_t size) {
    if (tfrecord_framing.begins_frame(&tfrecord_framing, bytes, size)) return COMPRESSION_NONE;
    if (begins_gzip(bytes, size)) return COMPRESSION_GZIP;
    if (begins_length(bytes, size)) return COMPRESSION_NONE;
    return begins_zlib(bytes, size) ? COMPRESSION_ZLIB : COMPRESSION_NONE;
}

enum {
    OUT_FIRST = 1 << 16,
    PIECE_MOST = 1 << 30, /* ISA-L counts input and output in 32 bits */
};

/* The bytes on their way through ISA-L. */
typedef struct stream {
    struct inflate_state state;
    compression kind;
    const uint8_t *bytes;
    uint64_t size;
    uint64_t taken; /* bytes handed to ISA-L */
    uint8_t *data;
    size_t count;
    size_t capacity;
} stream;

/* ISA-L reads ahead: whole bytes that it has not used belong to what follows. */
static uint32_t unused_bytes(const stream *in) {
    return in->state.read_in_length > 0 ? (uint32_t)in->state.read_in_length / 8 : 0;
}

static void begin_member(stream *in) {
    uint32_t unused = unused_bytes(in);
    uint8_t *next_in = in->state.next_in;
    uint32_t avail_in = in->state.avail_in + unused;
    if (unused) next_in -= unused;
    isal_inflate_reset(&in->state);
    in->state.crc_flag = in->kind == COMPRESSION_GZIP ? ISAL_GZIP : ISAL_ZLIB;
    in->state.next_in = next_in;
    in->state.avail_in = avail_in;
}

static uint64_t position(const stream *in) {
    return in->taken - in->state.avail_in - unused_bytes(in);
}

static void refill(stream *in) {
    if (in->state.avail_in) return;
    uint64_t left = in->size - in->taken;
    in->state.next_in = (uint8_t *)in->bytes + in->taken;
    in->state.avail_in = (uint32_t)(left < PIECE_MOST ? left : PIECE_MOST);
    in->taken += in->state.avail_in;
}

static inflate_verdict bad(inflated *out, const stream *in, const char *reason) {
    out->bad_at = position(in);
    out->reason = reason;
    return INFLATE_BAD;
}

static const char *reason_of(int result) {
    switch (result) {
    case ISAL_INVALID_BLOCK: return "a deflate block is malformed";
    case ISAL_INVALID_SYMBOL: return "a deflate symbol is malformed";
    case ISAL_INVALID_LOOKBACK: return "a deflate distance reaches before the beginning";
    case ISAL_INVALID_WRAPPER: return "a header is malformed";
    case ISAL_UNSUPPORTED_METHOD: return "it is compressed by another method than deflate";
    case ISAL_INCORRECT_CHECKSUM: return "its checksum does not hold";
    default: return "it cannot be inflated";
    }
}

/* One call of ISA-L into what room there is. */
static inflate_verdict step(inflated *out, stream *in, uint64_t limit) {
    if (in->count == in->capacity) {
        if (in->count > limit) return INFLATE_TOO_LARGE;
        if (!array_reserve(&in->data, &in->capacity, in->count ? in->count + 1 : OUT_FIRST, 1))
            return INFLATE_NO_MEMORY;
    }
    size_t room = in->capacity - in->count;
    uint32_t piece = (uint32_t)(room < PIECE_MOST ? room : PIECE_MOST);
    in->state.next_out = in->data + in->count;
    in->state.avail_out = piece;
    refill(in);
    uint32_t before = in->state.avail_in;
    int result = isal_inflate(&in->state);
    in->count += piece - in->state.avail_out;
    if (result < 0) return bad(out, in, reason_of(result));
    bool is_stuck = in->state.avail_in == before && in->state.avail_out == piece;
    if (is_stuck && in->state.block_state != ISAL_BLOCK_FINISH)
        return bad(out, in,
                   before ? "it cannot be inflated" : "the file ends inside the compressed stream");
    return in->count > limit ? INFLATE_TOO_LARGE : INFLATE_OK;
}

/* Whether another member begins at `at`; zeros that pad a GZIP file end it, as for gzip(1). */
static bool is_padding(const stream *in, uint64_t at) {
    for (; at < in->size; at++)
        if (in->bytes[at]) return false;
    return true;
}

static inflate_verdict inflate_members(inflated *out, stream *in, uint64_t limit) {
    for (;;) {
        begin_member(in);
        while (in->state.block_state != ISAL_BLOCK_FINISH) {
            inflate_verdict verdict = step(out, in, limit);
            if (verdict != INFLATE_OK) return verdict;
        }
        uint64_t at = position(in);
        if (is_padding(in, at)) return INFLATE_OK;
        bool goes_on = in->kind == COMPRESSION_GZIP ? begins_gzip(in->bytes + at, in->size - at)
                                                    : begins_zlib(in->bytes + at, in->size - at);
        if (!goes_on) return bad(out, in, "other bytes follow the compressed stream");
    }
}

inflate_verdict inflate_all(inflated *out, compression kind, const uint8_t *bytes, uint64_t size,
                            uint64_t limit) {
    stream *in = calloc(1, sizeof *in); /* ISA-L's state is too large for a small stack */
    if (!in) return INFLATE_NO_MEMORY;
    in->kind = kind;
    in->bytes = bytes;
    in->size = size;
    isal_inflate_init(&in->state);
    inflate_verdict verdict = inflate_members(out, in, limit);
    if (verdict == INFLATE_OK) {
        out->data = in->data;
        out->size = in->count;
    } else {
        free(in->data);
    }
    free(in);
    return verdict;
}
