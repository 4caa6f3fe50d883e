#include "format/framing/lines.h"

#include <string.h>

#include "base/core/bytes.h"

static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    (void)framing;
    (void)fault;
    if (size == 0) return FRAME_AT_END;
    const uint8_t *end = memchr(bytes, '\n', (size_t)size);
    uint64_t data_size = end ? (uint64_t)(end - bytes) : size;
    *frame = (struct frame){.size = data_size + (end != NULL)};
    if (end && data_size && end[-1] == '\r') data_size--;
    frame->data_size = data_size;
    if (check == FRAME_CHECK_STORED) frame->check = framing_hash(bytes, data_size);
    return FRAME_GOOD;
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)framing;
    (void)bytes;
    return size > 0;
}

/* A line starts after every LF, and at offset 0. */
static uint64_t find(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums) {
    (void)framing;
    (void)budget;
    (void)sums;
    limit = min_u64(limit, size);
    if (from >= limit) return FRAME_NOWHERE;
    if (from == 0) return 0;
    const uint8_t *end = memchr(bytes + from - 1, '\n', (size_t)(limit - from));
    return end ? (uint64_t)(end - bytes) + 1 : FRAME_NOWHERE;
}

const struct framing lines_framing = {
    .name = "lines",
    .overhead_varies = true,
    .has_delimiter = true,
    .missing_end = "no line feed",
    .can_grow = true,
    .parse = parse,
    .begins_frame = begins_frame,
    .find = find,
    .guess = find,
};
