/* Walking through a stretch of a shard, from frame to frame, and over damage.
 *
 * Where a walk goes depends on nothing but the bytes and its state, so a shard can be walked in
 * pieces: a piece that was walked from a guess counts when the walk before it arrives at exactly
 * the place where the guess began. Pure. */
#ifndef RECMAP_SCAN_SCANNER_H
#define RECMAP_SCAN_SCANNER_H

#include <recmap/index.h>

#include "format/framing.h"
#include "index/manifest.h"
#include "scan/extract.h"
#include "scan/run.h"

/* Where a walk stands: at a frame's beginning, or lost, looking for one. */
struct scan_cursor {
    uint64_t position; /* the next frame, or the first byte not yet searched */
    bool is_lost;
    uint64_t lost_since;
    char reason[REASON_MAX]; /* why it got lost */
};

/* A stretch of bytes that are no frame. */
struct scan_damage {
    uint64_t offset;
    uint64_t length;
    char reason[REASON_MAX];
};

/* What a walk found. */
struct scan_findings {
    struct record_run run;
    struct scan_damage *damages;
    size_t damage_count;
    size_t damage_capacity;
    recmap_status status; /* not OK: stopped at `stopped_at`, behind run.count records */
    uint64_t stopped_at;
    recmap_error error;   /* its record is not set */
    struct crc_sums sums; /* of the shard's bytes, for finding back; shard after shard */
};

/* What does not change from walk to walk. */
struct scanner {
    const struct framing *framing;
    const struct extractor *extractor;
    recmap_on_corrupt on_corrupt;
};

bool findings_init(struct scan_findings *findings, const struct extractor *extractor);
void findings_free(struct scan_findings *findings);
void findings_clear(struct scan_findings *findings);

/* Walks over all frames that begin before `end`, from `state`, and leaves in it where the next walk
 * goes on. Replaces what was in `findings`. At the shard's end damage that is still open is closed.
 * Errors stand in findings->status: CORRUPT (raise), FEATURE, NO_MEMORY. */
void scan_from(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *state, const uint8_t *bytes, uint64_t size, uint64_t end);

/* The same for a shard whose bytes come one after the other: `bytes` stand at `origin` of it, and
 * what is found is added to `findings`.
 *
 * scan_good goes over good frames alone, and stops where what follows is damaged, or may not all be
 * there yet. scan_rest goes on to the end of the bytes, which is that of the shard, or of a stretch
 * of it behind which bytes are lost. */
frame_verdict scan_good(const struct scanner *scanner, struct scan_findings *findings,
                        struct scan_cursor *state, const uint8_t *bytes, size_t size,
                        uint64_t origin);
void scan_rest(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *state, const uint8_t *bytes, size_t size, uint64_t origin);

/* Adds a stretch that is lost before anybody could look at it. */
void scan_add_damage(struct scan_findings *findings, uint64_t offset, uint64_t length,
                     const char *reason);

/* Guesses: looks for the first whole frame in [begin, end) and walks from there. False when there
 * is none, or none was found with a bounded amount of work. `entry` is where the walk began. */
bool scan_from_guess(const struct scanner *scanner, struct scan_findings *findings,
                     struct scan_cursor *state, uint64_t *entry, const uint8_t *bytes,
                     uint64_t size, uint64_t begin, uint64_t end);

#endif
