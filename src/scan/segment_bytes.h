/* The bytes of a segment of a remote shard. They are requested when the scan needs them, and only
 * those of the segments in progress are in memory.
 *
 * Only good frames are found in them. Damage needs all bytes of the shard to decide where the next
 * good frame begins, so a shard that seems damaged is copied to a temporary file: see segments.h.
 */
#ifndef RECMAP_SCAN_SEGMENT_BYTES_H
#define RECMAP_SCAN_SEGMENT_BYTES_H

#include "os/source.h"
#include "scan/scanner.h"

/* Zero-initialised, it holds nothing. */
struct segment_bytes {
    uint8_t *data;
    size_t size, capacity;
    uint64_t origin; /* in the shard */
    size_t overlap;  /* read past the end of a segment: most frames that extend past it end there */
};

void segment_bytes_deinit(struct segment_bytes *held);

/* Removes all bytes; the next ones begin at `origin`. */
void segment_bytes_clear(struct segment_bytes *held, uint64_t origin);

bool segment_bytes_have(const struct segment_bytes *held, uint64_t offset, uint64_t size);

/* Requests the bytes up to `end` of the shard that are not held yet, in ranges that are in flight
 * together. After an error the bytes held before remain. Errors: those of source_read_all. */
recmap_status segment_bytes_read(struct segment_bytes *held, struct source *source, uint64_t end,
                                 recmap_error *error);

/* Requests the segment [begin, end), and looks for its first frame. `entry` is FRAME_NOWHERE if
 * none was found. */
recmap_status segment_bytes_guess(uint64_t *entry, struct segment_bytes *held,
                                  struct source *source, const struct scanner *scanner,
                                  uint64_t begin, uint64_t end, recmap_error *error);

/* Scans the frames that begin in the shard's bytes from the cursor to `end`, as scan_from does, and
 * requests bytes that are not held. If `is_good` becomes false, there is damage, or a frame is too
 * large to be held; findings and cursor are then of no use. The status is that of the requests. */
recmap_status segment_bytes_scan(bool *is_good, struct segment_bytes *held, struct source *source,
                                 const struct scanner *scanner, struct scan_findings *findings,
                                 struct scan_cursor *cursor, uint64_t end, recmap_error *error);

#endif
