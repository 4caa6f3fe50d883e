/* Damage that a scan finds in a local shard is confirmed before it counts: an index that lists it
 * would lose records for good, although only one read was wrong. So the bytes are read once more,
 * past the page cache if possible, and compared with the mapped ones. */
#ifndef RECMAP_INDEX_SCAN_CONFIRM_H
#define RECMAP_INDEX_SCAN_CONFIRM_H

#include "index/scan/scan_shard.h"

/* Returns true if the findings of a segment, whose scan ended at `cursor`, have damage, or stopped
 * at it.
 */
bool findings_have_damage(const struct scan_findings *findings, const struct scan_cursor *cursor);

/* Confirms the damage in the segment [begin, end) of an open local shard. `findings` and `cursor`
 * are the results of its scan from `first` on; if its bytes are other ones now, it is scanned
 * again. Errors: IO if the bytes differ between two reads; as when opening the file. */
recmap_status confirm_segment(struct scan_findings *findings, struct scan_cursor *cursor,
                              struct scan_shard *shard, const struct scan_options *options,
                              const struct scan_cursor *first, uint64_t begin, uint64_t end,
                              recmap_error *error);

#endif
