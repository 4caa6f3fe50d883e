/* The scanner: reads a stretch of a shard from frame to frame, and resyncs after damage.
 *
 * The result depends on the bytes and the cursor alone. So a shard can be scanned in segments: a
 * segment that was scanned from a guessed entry is valid if the scan of the previous segment
 * arrives at exactly that entry. Pure. */
#ifndef RECMAP_INDEX_SCAN_SCANNER_H
#define RECMAP_INDEX_SCAN_SCANNER_H

#include <recmap/index.h>

#include "format/framing/framing.h"
#include "index/extract/extract.h"
#include "index/extract/run.h"
#include "index/tables/manifest.h"

/* A position in a scan: at the beginning of a frame, or lost while searching for one. */
struct scan_cursor {
    uint64_t position; /* of the next frame, or the first byte not yet searched */
    bool is_lost;
    uint64_t lost_since;     /* where the damage began */
    uint64_t lines_until;    /* frames that begin before it are single lines: the end of an earlier
                                frame was searched for up to there, and not found. So no byte is
                                searched twice, however many frames have no end */
    bool is_inside;          /* offsets are relative to a byte after the first one of the file */
    char reason[REASON_MAX]; /* what the damage is */
};

/* A stretch of bytes that belong to no frame. */
struct scan_damage {
    uint64_t offset;
    uint64_t length;
    char reason[REASON_MAX];
};

/* The result of a scan. */
struct scan_findings {
    struct record_run run;
    struct scan_damage *damages;
    size_t damage_count;
    size_t damage_capacity;
    uint64_t size_limit;  /* the scan stops with UNSUPPORTED if more bytes are found; 0: no limit */
    uint64_t pause_size;  /* the scan pauses when so many bytes were found; 0: it does not */
    recmap_status status; /* not OK: the scan stopped at `stopped_at`, after run.count records */
    uint64_t stopped_at;
    recmap_error error;   /* without a record number */
    struct crc_sums sums; /* of the shard's bytes, for resyncing; cleared for each shard */
};

/* The first row of each file, which names the fields, if the framing has such rows. */
struct scan_header {
    const uint8_t *data;
    size_t size;
    const char *path; /* of the file or index that has it */
};

/* Constant during a scan. */
struct scanner {
    const struct framing *framing;
    const struct extractor *extractor;
    recmap_on_bad_record on_bad_record;
    const struct scan_header *header; /* which all files must have; NULL: any */
};

bool findings_init(struct scan_findings *findings, const struct extractor *extractor);
void findings_deinit(struct scan_findings *findings);
void findings_clear(struct scan_findings *findings);

/* Bytes that the records and the damage take, and whether they are more than `size_limit`. */
uint64_t findings_size(const struct scan_findings *findings);
bool findings_are_full(const struct scan_findings *findings);

/* Returns true if the findings are so many that the scan pauses to hand them over. It continues at
 * the cursor, with empty findings. */
bool findings_pause(const struct scan_findings *findings);

/* Removes the records that reach past `limit`. `end` is the end of the last record, or more.
 * Returns the start of what is lost: `limit`, or the first record removed, or `end`. */
uint64_t findings_truncate(struct scan_findings *findings, uint64_t limit, uint64_t end);

/* Scans all frames that begin before `end`, from the cursor on, and leaves the cursor where the
 * next scan continues. Replaces `findings`. Damage that is still open at the shard's end (`size`)
 * is closed. Errors are in findings->status: CORRUPT (with RAISE), FEATURE, MISMATCH for
 * another header, NO_MEMORY. */
void scan_from(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *cursor, const uint8_t *bytes, uint64_t size, uint64_t end);

/* The same, but adds to `findings`. */
void scan_further(const struct scanner *scanner, struct scan_findings *findings,
                  struct scan_cursor *cursor, const uint8_t *bytes, uint64_t size, uint64_t end);

/* A part of a shard: `size` bytes from offset `origin` on. */
struct shard_part {
    const uint8_t *bytes;
    size_t size;
    uint64_t origin;
    bool is_last; /* the records of the shard end where the part ends */
};

/* For a shard whose bytes arrive one piece after the other: results are added to `findings`.
 *
 * scan_good scans the frames that begin before `end`, an offset in the shard. It stops at the first
 * frame that is bad, or that may not be complete yet. scan_rest scans to the end of the bytes,
 * which must be the end of the shard or of a stretch before damage. */
enum frame_verdict scan_good(const struct scanner *scanner, struct scan_findings *findings,
                             struct scan_cursor *cursor, const struct shard_part *part,
                             uint64_t end);
void scan_rest(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *cursor, const uint8_t *bytes, size_t size, uint64_t origin);

/* Adds damage that was found outside of the scan. */
void scan_add_damage(struct scan_findings *findings, uint64_t offset, uint64_t length,
                     const char *reason);

/* The offset at which the records of a file of `size` bytes end: before its footer. */
uint64_t scan_end_of_records(const struct scanner *scanner, uint64_t size);

/* Looks for the first whole frame in [begin, end) and scans from there; `entry` is its offset.
 * False if there is none, or none was found with a bounded amount of work. */
bool scan_from_guess(const struct scanner *scanner, struct scan_findings *findings,
                     struct scan_cursor *cursor, uint64_t *entry, const uint8_t *bytes,
                     uint64_t size, uint64_t begin, uint64_t end);

#endif
