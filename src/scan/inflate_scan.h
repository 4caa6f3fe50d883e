/* Walking through a compressed shard while it is inflated, in one pass that takes its seek points
 * too. Of what it inflates to only the piece at hand is in memory: a few MiB, or as much as the
 * largest record needs; but all that follows damage, in which records are looked for. */
#ifndef RECMAP_SCAN_INFLATE_SCAN_H
#define RECMAP_SCAN_INFLATE_SCAN_H

#include "format/inflate.h"
#include "index/points.h"
#include "scan/scanner.h"

/* More than this of one shard is not held in memory, and not more records are. */
#define INFLATED_HELD_MAX ((uint64_t)8 << 30)
#define INFLATED_RECORDS_MAX ((uint64_t)1 << 28)

enum { INFLATED_HEAD = 512 };

struct inflate_scan {
    const struct scanner *scanner;
    struct inflate_source source;
    compression kind;
    const char *path;
    const struct point_list *known; /* to go on at behind damage; NULL: members are looked for */
    uint64_t known_size;            /* of the image, with known points */
    /* What came of it. */
    uint64_t size; /* of the image */
    uint64_t end_of_records;
    struct point_list points; /* the caller frees them */
    uint8_t head[INFLATED_HEAD];
    size_t head_size;
};

/* Walks over all of the shard; records and damage are in `findings`, with their status. What is
 * returned is that of the compressed stream: under RAISE its damage is an error, else a stretch of
 * damage in the image: see docs/index-format.md.
 * Errors: CORRUPT naming the compressed byte; UNSUPPORTED over the limits; IO; NO_MEMORY. */
recmap_status inflate_walk_shard(struct inflate_scan *walk, struct scan_findings *findings,
                                 recmap_error *error);

#endif
