#include "index/scan/remote_scan.h"

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "format/framing/tfrecord.h"

/* With this many bytes present, a bad length is known to be damage. */
enum { CERTAIN_SIZE = 64 };

/* Moves the cursor past the file's header. False if the file is too short for header and footer. */
static bool skip_header(struct scan_cursor *cursor, const struct framing *framing,
                        uint64_t file_size) {
    uint64_t header = framing->file_header_size, footer = framing->file_footer_size;
    if (!(header | footer) || cursor->position) return true;
    if (!bytes_fit(header, footer, file_size)) return false;
    cursor->position = header;
    return true;
}

/* Up to which byte of the shard to read if the frame at the cursor is not good with the bytes in
 * the window; 0 if more bytes cannot make it good. The header of a TFRecord frame tells where the
 * frame ends, if its checksum is right; of other framings, twice the bytes are read. */
static uint64_t end_of_frame(const struct framing *framing, const struct read_window *window,
                             enum frame_verdict verdict, uint64_t last) {
    uint64_t window_end = window->origin + window->size;
    if (window_end >= last) return 0;
    if (!framing_is_tfrecord(framing) || window->size < CERTAIN_SIZE)
        return window_end + (window->size > CERTAIN_SIZE ? window->size : CERTAIN_SIZE);
    if (verdict == FRAME_BAD_DATA || !framing->begins_frame(framing, window->data, window->size))
        return 0;
    uint64_t payload_size = load64(window->data);
    if (payload_size > last || !bytes_fit(window->origin + TFRECORD_OVERHEAD, payload_size, last))
        return 0;
    uint64_t frame_end = window->origin + TFRECORD_OVERHEAD + payload_size;
    return frame_end > window_end ? frame_end : 0;
}

/* Scans the frames in a window that begins at the cursor. The window is extended if the first frame
 * does not fit. If that frame is bad, the cursor stays where it is. */
static recmap_status scan_window(enum remote_verdict *verdict, const struct remote_scan *scan,
                                 struct scan_findings *findings, struct scan_cursor *cursor,
                                 uint64_t last, recmap_error *error) {
    const struct framing *framing = scan->scanner->framing;
    struct read_window *window = scan->window;
    uint64_t begin = cursor->position;
    *verdict = REMOTE_BAD;
    for (uint64_t wanted = begin + scan->window_size; wanted;) {
        if (min_u64(wanted, last) - begin > READ_WINDOW_MAX) return RECMAP_OK;
        RETURN_IF_FAILED(read_window_fill(window, scan->source, min_u64(wanted, last), error));
        uint64_t window_end = window->origin + window->size;
        struct shard_part part = {window->data, window->size, begin, window_end == last};
        enum frame_verdict frame = scan_good(scan->scanner, findings, cursor, &part, last);
        bool is_at_end = cursor->position == last || (part.is_last && frame == FRAME_AT_END);
        if (is_at_end || findings->status != RECMAP_OK) *verdict = REMOTE_END;
        else if (cursor->position > begin) *verdict = REMOTE_MORE;
        if (*verdict != REMOTE_BAD) return RECMAP_OK;
        wanted = end_of_frame(framing, window, frame, last);
    }
    return RECMAP_OK;
}

recmap_status remote_scan_window(enum remote_verdict *verdict, const struct remote_scan *scan,
                                 struct scan_findings *findings, struct scan_cursor *cursor,
                                 recmap_error *error) {
    uint64_t size = scan->source->stat.size, last = scan_end_of_records(scan->scanner, size);
    *verdict = REMOTE_BAD;
    if (!skip_header(cursor, scan->scanner->framing, size)) return RECMAP_OK;
    *verdict = REMOTE_END;
    if (cursor->position >= last) return RECMAP_OK;
    read_window_move(scan->window, cursor->position);
    RETURN_IF_FAILED(scan_window(verdict, scan, findings, cursor, last, error));
    if (*verdict != REMOTE_BAD) return RECMAP_OK;
    read_window_clear(scan->window, cursor->position);
    return scan_window(verdict, scan, findings, cursor, last, error);
}
