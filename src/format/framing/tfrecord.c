#include "format/framing/tfrecord.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/core/plural.h"

void tfrecord_make_header(uint8_t header[TFRECORD_HEADER_SIZE], uint64_t size) {
    store64(header, size);
    store32(header + 8, crc32c_mask(crc32c(header, 8)));
}

void tfrecord_make_footer(uint8_t footer[TFRECORD_FOOTER_SIZE], const void *data, size_t size) {
    store32(footer, crc32c_mask(crc32c(data, size)));
}

bool tfrecord_holds(const uint8_t *bytes, uint64_t size, enum frame_check check) {
    if (size < TFRECORD_OVERHEAD) return false;
    uint64_t data_size = size - TFRECORD_OVERHEAD;
    uint8_t header[TFRECORD_HEADER_SIZE], footer[TFRECORD_FOOTER_SIZE];
    tfrecord_make_header(header, data_size);
    if (memcmp(bytes, header, sizeof header) != 0) return false;
    if (check == FRAME_CHECK_HEADER) return true;
    const uint8_t *data = bytes + TFRECORD_HEADER_SIZE;
    tfrecord_make_footer(footer, data, (size_t)data_size);
    return memcmp(data + data_size, footer, sizeof footer) == 0;
}

/* Payloads up to this size are checked directly; the table of prefix CRCs costs more than it saves.
 */
enum { SHORT_PAYLOAD = 16384 };

static enum frame_verdict check_payload(const struct frame *frame, const uint8_t *bytes,
                                        uint64_t at, struct crc_sums *sums,
                                        struct frame_fault *fault) {
    uint64_t from = at + frame->data_offset;
    uint32_t crc;
    if (frame->data_size <= SHORT_PAYLOAD || !sums ||
        !crc_sums_piece(&crc, sums, bytes, from, frame->data_size))
        crc = crc32c(bytes + from, (size_t)frame->data_size);
    if (frame->check == crc32c_mask(crc)) return FRAME_GOOD;
    return frame_is_bad(fault, FRAME_BAD_DATA, "data CRC is 0x%08" PRIx32 ", expected 0x%08" PRIx32,
                        frame->check, crc32c_mask(crc));
}

static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    (void)framing;
    /* Checks in the order in which bytes become trustworthy: the length is used only once its own
     * CRC is verified, and compared with the bytes left before the payload is touched. */
    if (size == 0) return FRAME_AT_END;
    if (size < TFRECORD_HEADER_SIZE)
        return frame_is_cut(fault,
                            "%" PRIu64 " trailing byte%s, too few for a record's header of 12",
                            size, plural(size));
    uint32_t stored = load32(bytes + 8), computed = crc32c_mask(crc32c(bytes, 8));
    if (stored != computed)
        return frame_is_bad(fault, FRAME_BAD_LENGTH,
                            "length CRC is 0x%08" PRIx32 ", expected 0x%08" PRIx32, stored,
                            computed);
    uint64_t length = load64(bytes), left = size - TFRECORD_HEADER_SIZE;
    if (left < TFRECORD_FOOTER_SIZE || length > left - TFRECORD_FOOTER_SIZE)
        return frame_is_cut(fault,
                            "the file ends inside the record: %" PRIu64
                            " byte%s its header, not %" PRIu64 " + 4",
                            left, left == 1 ? " follows" : "s follow", length);
    frame->size = length + TFRECORD_OVERHEAD;
    frame->data_offset = TFRECORD_HEADER_SIZE;
    frame->data_size = length;
    if (check == FRAME_CHECK_HEADER) return FRAME_GOOD;
    const uint8_t *data = bytes + TFRECORD_HEADER_SIZE;
    frame->check = load32(data + length);
    return check == FRAME_CHECK_STORED ? FRAME_GOOD : check_payload(frame, bytes, 0, NULL, fault);
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)framing;
    return size >= TFRECORD_HEADER_SIZE && load32(bytes + 8) == crc32c_mask(crc32c(bytes, 8));
}

/* Returns the first offset in [from, limit) whose length is plausible: its highest byte is zero, as
 * in any file below 2^56 bytes. In random payload 1 byte in 256 is zero; memchr skips the others.
 */
static uint64_t next_plausible(const uint8_t *bytes, uint64_t from, uint64_t limit) {
    enum { HIGHEST = 7 };
    if (from >= limit || !bytes[from + HIGHEST]) return from;
    const uint8_t *zero = memchr(bytes + from + HIGHEST, 0, (size_t)(limit - from));
    return zero ? (uint64_t)(zero - bytes) - HIGHEST : limit;
}

static uint64_t find(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums) {
    if (size < TFRECORD_OVERHEAD) return FRAME_NOWHERE;
    uint64_t last = size - TFRECORD_OVERHEAD; /* where the last frame could start */
    if (limit > last + 1) limit = last + 1;
    for (uint64_t at = next_plausible(bytes, from, limit); at < limit;
         at = next_plausible(bytes, at + 1, limit)) {
        if (!budget.place_count--) return FRAME_NOWHERE;
        if (load64(bytes + at) > last - at) continue;
        struct frame frame = {0};
        if (parse(&frame, framing, bytes + at, size - at, FRAME_CHECK_STORED, NULL) != FRAME_GOOD)
            continue;
        if (frame.data_size > budget.payload_size) return FRAME_NOWHERE;
        if (check_payload(&frame, bytes, at, sums, NULL) == FRAME_GOOD) return at;
        budget.payload_size -= frame.data_size;
    }
    return FRAME_NOWHERE;
}

const struct framing tfrecord_framing = {
    .name = "tfrecord",
    .overhead = TFRECORD_OVERHEAD,
    .header_size = TFRECORD_HEADER_SIZE,
    .can_grow = true,
    .parse = parse,
    .check_payload = check_payload,
    .begins_frame = begins_frame,
    .find = find,
    .guess = find,
};
