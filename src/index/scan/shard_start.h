/* Reads the start of a shard before it is scanned: the row that names the fields, and a sample of
 * the records. */
#ifndef RECMAP_INDEX_SCAN_SHARD_START_H
#define RECMAP_INDEX_SCAN_SHARD_START_H

#include "index/scan/scan.h"

/* The maximum size of a header. */
enum { SHARD_HEADER_MAX = 16 << 20 };

/* The first bytes of a shard, after inflating: at least 64 KiB if it has so many, and at least the
 * whole first frame. */
struct shard_start {
    uint8_t *bytes; /* to be freed */
    size_t size;
    bool is_whole;      /* no bytes follow, or none that can be read */
    struct frame first; /* the first frame; its size is 0 if the shard has none */
};

/* Reads the start of a shard as options->form says. Damage is not an error: the scan reports it.
 * Errors: UNSUPPORTED if the framing has headers, and one is longer than SHARD_HEADER_MAX, CORRUPT
 * if a quote in it is not closed; IO, STALE, NO_MEMORY. */
recmap_status shard_start_read(struct shard_start *start, const char *path,
                               const struct scan_options *options, recmap_error *error);

/* The next complete frame at `*at`, an offset in the start, which moves past it. Returns false if
 * there is none. */
bool shard_start_next(struct frame *frame, size_t *at, const struct shard_start *start,
                      const struct framing *framing);

#endif
