/* Scanning a remote shard as its bytes arrive.
 *
 * Only good frames are found this way. Damage needs bytes far ahead to decide where the next good
 * frame begins, so the caller copies a shard that is damaged to a temporary file: see segments.h.
 */
#ifndef RECMAP_INDEX_SCAN_REMOTE_SCAN_H
#define RECMAP_INDEX_SCAN_REMOTE_SCAN_H

#include "index/scan/read_window.h"
#include "index/scan/scanner.h"

/* A scan of a remote shard. It borrows all of these. */
struct remote_scan {
    const struct scanner *scanner;
    struct source *source;
    struct read_window *window;
    uint64_t window_size; /* bytes that are requested together */
};

enum remote_verdict {
    REMOTE_MORE, /* frames were added, and others may follow */
    REMOTE_END,  /* no frame follows */
    REMOTE_BAD,  /* the frame at the cursor is bad, or too large for the window */
};

/* Scans the frames in the window that begins at the cursor, and adds them to `findings`. Bytes of a
 * bad frame are requested once more, because they may have changed on the way. The status comes
 * from the requests. */
recmap_status remote_scan_window(enum remote_verdict *verdict, const struct remote_scan *scan,
                                 struct scan_findings *findings, struct scan_cursor *cursor,
                                 recmap_error *error);

#endif
