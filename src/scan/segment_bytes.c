#include "scan/segment_bytes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/tfrecord.h"

enum {
    /* Of a request. Small enough that a segment takes several, which arrive together. */
    REQUEST_MAX = 2 << 20,
    HELD_MAX = 256 << 20,
    /* More memory than this is freed when the segment is done: few segments need it. */
    KEPT_MAX = 16 << 20,
    /* With this many bytes present, a bad length is known to be damage. */
    CERTAIN_SIZE = 64,
};

void segment_bytes_deinit(struct segment_bytes *held) {
    free(held->data);
    *held = (struct segment_bytes){0};
}

void segment_bytes_clear(struct segment_bytes *held, uint64_t origin) {
    size_t overlap = held->overlap;
    if (held->capacity > KEPT_MAX) segment_bytes_deinit(held);
    held->size = 0;
    held->origin = origin;
    held->overlap = overlap;
}

bool segment_bytes_have(const struct segment_bytes *held, uint64_t offset, uint64_t size) {
    return offset >= held->origin && bytes_fit(offset - held->origin, size, held->size);
}

static recmap_status reserve(struct segment_bytes *held, size_t size, recmap_error *error) {
    if (size <= held->capacity) return RECMAP_OK;
    uint8_t *data = realloc(held->data, size);
    if (!data) return fail_memory(error);
    held->data = data;
    held->capacity = size;
    return RECMAP_OK;
}

recmap_status segment_bytes_read(struct segment_bytes *held, struct source *source, uint64_t end,
                                 recmap_error *error) {
    struct source_read reads[HELD_MAX / REQUEST_MAX + 1];
    assert(end - held->origin <= HELD_MAX);
    size_t size = (size_t)(end - held->origin), count = 0, failed_index;
    if (size <= held->size) return RECMAP_OK;
    RETURN_IF_FAILED(reserve(held, size, error));
    size_t requests = (size - held->size + REQUEST_MAX - 1) / REQUEST_MAX;
    size_t request_size = (size - held->size + requests - 1) / requests;
    for (size_t first = held->size; first < size; first += request_size) {
        size_t left = size - first;
        reads[count++] = (struct source_read){source, held->data + first,
                                              left < request_size ? left : request_size,
                                              held->origin + first};
    }
    RETURN_IF_FAILED(source_read_all(&failed_index, reads, count, NULL, error));
    held->size = size;
    return RECMAP_OK;
}

recmap_status segment_bytes_guess(uint64_t *entry, struct segment_bytes *held,
                                  struct source *source, const struct scanner *scanner,
                                  uint64_t begin, uint64_t end, recmap_error *error) {
    uint64_t last = scan_end_of_records(scanner, source->stat.size);
    *entry = FRAME_NOWHERE;
    segment_bytes_clear(held, begin);
    if (begin >= last) return RECMAP_OK;
    RETURN_IF_FAILED(segment_bytes_read(held, source, min_u64(end + held->overlap, last), error));
    *entry = scan_guess(scanner, held->data, held->size, 0, min_u64(end, last) - begin);
    if (*entry != FRAME_NOWHERE) *entry += begin;
    return RECMAP_OK;
}

/* Moves the cursor past the file's header. False if the file is too short for header and footer. */
static bool skip_header(struct scan_cursor *cursor, const struct framing *framing,
                        uint64_t file_size) {
    uint64_t header = framing->file_header_size, footer = framing->file_footer_size;
    if (!(header | footer) || cursor->position) return true;
    cursor->position = header;
    return bytes_fit(header, footer, file_size);
}

/* Whether a TFRecord frame cannot become good with more bytes. */
static bool is_damaged(const struct framing *framing, enum frame_verdict verdict,
                       const uint8_t *bytes, size_t size) {
    if (!framing_is_tfrecord(framing) || size < CERTAIN_SIZE) return false;
    return verdict == FRAME_BAD_DATA ||
           (verdict == FRAME_BAD_LENGTH && !framing->begins_frame(framing, bytes, size));
}

/* Up to which byte of the shard to read if the frame of which `size` bytes are held is incomplete.
 * The header of a TFRecord frame tells; of other framings, twice the bytes are read. */
static uint64_t end_of_frame(const struct framing *framing, uint64_t position, const uint8_t *bytes,
                             size_t size) {
    uint64_t end = position + size + (size > CERTAIN_SIZE ? size : CERTAIN_SIZE);
    if (!framing_is_tfrecord(framing) || size < TFRECORD_HEADER_SIZE) return end;
    uint64_t payload_size = load64(bytes), frame_end = position + TFRECORD_OVERHEAD;
    if (payload_size > UINT64_MAX - frame_end) return UINT64_MAX;
    frame_end += payload_size;
    return frame_end > position + size ? frame_end : end;
}

/* Each round scans the bytes that are held. A frame that is not good may be incomplete, so more
 * bytes are requested, until there are none or too many. */
recmap_status segment_bytes_scan(bool *is_good, struct segment_bytes *held, struct source *source,
                                 const struct scanner *scanner, struct scan_findings *findings,
                                 struct scan_cursor *cursor, uint64_t end, recmap_error *error) {
    const struct framing *framing = scanner->framing;
    uint64_t last = scan_end_of_records(scanner, source->stat.size), wanted = end + held->overlap;
    findings_clear(findings);
    *is_good = skip_header(cursor, framing, source->stat.size);
    end = min_u64(end, last);
    if (!*is_good || cursor->position >= end) return RECMAP_OK;
    if (!segment_bytes_have(held, cursor->position, 1)) segment_bytes_clear(held, cursor->position);
    for (*is_good = false; min_u64(wanted, last) - held->origin <= HELD_MAX;) {
        RETURN_IF_FAILED(segment_bytes_read(held, source, min_u64(wanted, last), error));
        uint64_t held_end = held->origin + held->size;
        struct shard_part part = {held->data, held->size, held->origin, held_end == last};
        enum frame_verdict verdict = scan_good(scanner, findings, cursor, &part, end);
        *is_good = findings->status != RECMAP_OK || cursor->position >= end ||
                   (part.is_last && verdict == FRAME_AT_END);
        const uint8_t *frame = held->data + (cursor->position - held->origin);
        size_t left = (size_t)(held_end - cursor->position);
        if (*is_good || part.is_last || is_damaged(framing, verdict, frame, left)) break;
        wanted = end_of_frame(framing, cursor->position, frame, left);
    }
    return RECMAP_OK;
}
