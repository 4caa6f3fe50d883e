/* Scanning a compressed shard while it is inflated: one pass finds the records and takes the seek
 * points. Only a piece of the image (the inflated shard) is in memory: a few MiB, or as much as the
 * largest record needs. The exception is everything after damage, which is held until the end so
 * that records can be looked for in it. */
#ifndef RECMAP_INDEX_SCAN_INFLATE_SCAN_H
#define RECMAP_INDEX_SCAN_INFLATE_SCAN_H

#include "format/deflate/inflate.h"
#include "index/scan/scanner.h"
#include "index/tables/points.h"

/* Limits per shard: bytes of the image held in memory, and bytes of the list of records and damage.
 * A few bytes can inflate to a thousand times as many, so both follow the size of the file, up to a
 * maximum. */
#define INFLATED_HELD_FREE ((uint64_t)256 << 20)
#define INFLATED_HELD_MAX ((uint64_t)8 << 30)
#define INFLATED_FOUND_FREE ((uint64_t)256 << 20)
#define INFLATED_FOUND_MAX ((uint64_t)8 << 30)
enum { INFLATED_HELD_GROWTH = 64, INFLATED_FOUND_GROWTH = 256 };

enum { INFLATED_PREFIX = 512 };

struct inflate_scan {
    const struct scanner *scanner;
    struct inflate_source source;
    enum compression kind;
    const char *path;
    uint64_t memory_limit;          /* of the image and the list together, in bytes; 0: none but the
                                       limits above */
    const struct point_list *known; /* seek points of an index: the scan resumes at them after
                                       damage. NULL: it searches for members and takes points */
    uint64_t known_size;            /* of the image, if `known` is set */
    bool is_strict;                 /* inflate strictly */
    /* Results. */
    uint64_t size;            /* of the image */
    uint64_t end_of_records;  /* where the last record or damage ends */
    struct point_list points; /* the caller frees them */
    uint8_t *prefix;          /* the image's first bytes; the caller frees them */
    size_t prefix_size;
    bool needs_strict; /* the other results mean nothing: scan once more, strictly */
};

/* Scans the whole shard. Replaces `findings`: records, damage, and the status of scanning the
 * image. The returned status is about the compressed stream: with RAISE its damage is an error,
 * otherwise it becomes a damaged stretch of the image, as docs/formats/index-format.md specifies.
 *
 * With SKIP, what happens after damage in the stream depends on the framing. Records with checks
 * of their own (TFRecord) are looked for after it. Records without checks rely on the checksum of
 * their member: the damaged member, and everything that follows it, is lost. Of a file that is
 * merely truncated, the records before the end are kept.
 *
 * What a damaged stream inflates to, and where it is damaged, must be the same everywhere, which
 * only a strict inflater ensures. So any other scan ends when it meets damage of the stream, and
 * asks to be done strictly.
 *
 * Errors: CORRUPT naming the compressed byte; UNSUPPORTED over the limits, with the index in the
 * shard of the record that was too much, and its byte of the image; IO; NO_MEMORY. */
recmap_status inflate_scan_shard(struct inflate_scan *scan, struct scan_findings *findings,
                                 recmap_error *error);

#endif
