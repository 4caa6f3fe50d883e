/* Scanning a remote shard as its bytes arrive.
 *
 * Only good frames are found this way. Damage needs bytes far ahead to decide where the next good
 * frame begins, so the caller copies a shard that is damaged to a temporary file: see segments.h.
 */
#ifndef RECMAP_SCAN_REMOTE_SCAN_H
#define RECMAP_SCAN_REMOTE_SCAN_H

#include "scan/read_window.h"
#include "scan/scanner.h"

/* A scan of a remote shard. It borrows all of these. */
struct remote_scan {
    const struct scanner *scanner;
    struct source *source;
    struct read_window *window;
    uint64_t window_size; /* bytes that are requested together; 0: the default */
};

/* Scans the frames that begin in the shard's bytes from the cursor to `end`, and adds them to
 * `findings`. Bytes of a bad frame are requested once more, because they may have changed on the
 * way. If it is still bad, or too large for the window, `is_good` becomes false; the cursor is then
 * at that frame, and the findings are those before it. The status is that of the requests. */
recmap_status remote_scan_frames(bool *is_good, const struct remote_scan *scan,
                                 struct scan_findings *findings, struct scan_cursor *cursor,
                                 uint64_t end, recmap_error *error);

#endif
