#include "format/framing/fixed.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/core/bytes.h"

static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    uint64_t record = framing->record_size;
    if (size == 0) return FRAME_AT_END;
    if (size < record)
        return frame_is_cut(fault, "%" PRIu64 " byte%s left, too few for a record of %" PRIu64,
                            size, size == 1 ? " is" : "s are", record);
    *frame = (struct frame){.size = record, .data_size = record};
    if (check == FRAME_CHECK_STORED) frame->check = framing_hash(bytes, record);
    return FRAME_GOOD;
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)bytes;
    return size >= framing->record_size;
}

/* Records start at fixed offsets, so this rounds `from` up to the next one and checks that it fits.
 */
static uint64_t find(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums) {
    (void)bytes;
    (void)budget;
    (void)sums;
    uint64_t first = framing->file_header_size, record = framing->record_size;
    uint64_t into = from > first ? (from - first) % record : 0;
    uint64_t at = from > first ? from : first;
    uint64_t step = into ? record - into : 0;
    if (!bytes_fit(step, record, size - min_u64(at, size))) return FRAME_NOWHERE;
    return at + step < limit ? at + step : FRAME_NOWHERE;
}

struct framing fixed_framing(uint64_t header_size, uint64_t record_size, uint64_t footer_size) {
    struct framing framing = {
        .file_header_size = header_size,
        .file_footer_size = footer_size,
        .record_size = record_size,
        .can_grow = !footer_size,
        .parse = parse,
        .begins_frame = begins_frame,
        .find = find,
        .guess = find,
    };
    snprintf(framing.name, sizeof framing.name, "fixed:%" PRIu64 ",%" PRIu64 ",%" PRIu64,
             header_size, record_size, footer_size);
    return framing;
}
