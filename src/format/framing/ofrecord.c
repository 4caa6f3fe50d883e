#include "format/framing/ofrecord.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/plural.h"

/* The tag of field 1, a length-delimited field: the first byte of every record that is not empty.
 */
enum { FEATURE_TAG = 0x0a, LIKELY_RECORDS = 4 };

static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    (void)framing;
    if (size == 0) return FRAME_AT_END;
    if (size < OFRECORD_HEADER_SIZE)
        return frame_is_cut(fault, "%" PRIu64 " trailing byte%s, too few for a record's size of 8",
                            size, plural(size));
    uint64_t length = load64(bytes), left = size - OFRECORD_HEADER_SIZE;
    if (length > left)
        return frame_is_cut(fault, "the record's size is %" PRId64 ", but %" PRIu64 " byte%s",
                            (int64_t)length, left, left == 1 ? " follows" : "s follow");
    *frame = (struct frame){length + OFRECORD_HEADER_SIZE, OFRECORD_HEADER_SIZE, length, 0};
    if (check == FRAME_CHECK_STORED)
        frame->check = framing_hash(bytes + OFRECORD_HEADER_SIZE, length);
    return FRAME_GOOD;
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)framing;
    return size >= OFRECORD_HEADER_SIZE && load64(bytes) <= INT64_MAX;
}

bool ofrecord_is_likely(const uint8_t *bytes, uint64_t size, uint64_t at) {
    int seen = 0;
    for (; seen < LIKELY_RECORDS && at < size; seen++) {
        uint64_t left = size - at;
        if (left <= OFRECORD_HEADER_SIZE) return false;
        uint64_t length = load64(bytes + at);
        if (!length || length > left - OFRECORD_HEADER_SIZE ||
            bytes[at + OFRECORD_HEADER_SIZE] != FEATURE_TAG)
            return false;
        at += OFRECORD_HEADER_SIZE + length;
    }
    return seen > 0;
}

/* Used only for guesses, never to resynchronize after damage: a payload may itself contain records.
 */
static uint64_t guess(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                      uint64_t from, uint64_t limit, struct search_budget budget,
                      struct crc_sums *sums) {
    (void)framing;
    (void)sums;
    for (uint64_t at = from; at < limit && bytes_fit(at, OFRECORD_HEADER_SIZE + 1, size); at++) {
        const uint8_t *tag = memchr(bytes + at + OFRECORD_HEADER_SIZE, FEATURE_TAG,
                                    (size_t)(min_u64(limit, size - OFRECORD_HEADER_SIZE) - at));
        if (!tag || !budget.place_count--) return FRAME_NOWHERE;
        at = (uint64_t)(tag - bytes) - OFRECORD_HEADER_SIZE;
        if (ofrecord_is_likely(bytes, size, at)) return at;
    }
    return FRAME_NOWHERE;
}

const struct framing ofrecord_framing = {
    .name = "ofrecord",
    .overhead = OFRECORD_HEADER_SIZE,
    .header_size = OFRECORD_HEADER_SIZE,
    .can_grow = true,
    .parse = parse,
    .begins_frame = begins_frame,
    .guess = guess,
};
