/* The scan: all records of shard files, found by all cores in one pass, in order.
 *
 *   segments of shards ──> workers walk each from a guess ──> the caller's thread joins them in
 * order
 *
 * The joined result is that of one walk from the first byte to the last, whatever the number of
 * threads: a guess that the walk before does not arrive at is thrown away and walked again. */
#ifndef RECMAP_SCAN_SCAN_H
#define RECMAP_SCAN_SCAN_H

#include <recmap/index.h>

#include "format/framing.h"
#include "scan/extract.h"
#include "scan/run.h"
#include "scan/shard_end.h"

/* What a shard is taken for. */
struct scan_form {
    const struct framing *framing;
    recmap_compression compression;
};

struct scan_options {
    struct scan_form form;         /* of all shards; without a framing they are TFRecord files */
    const struct scan_form *forms; /* NULL, or of each shard */
    unsigned thread_count;         /* 0: one a core */
    recmap_on_corrupt on_corrupt;
    const struct extractor *extractor;
    uint64_t segment_size; /* 0: the default; tests make it small */
    bool refuses_others;   /* a file that holds no record and is known to be something else is an
                              error even where damage is skipped */
    /* Opens a shard by its name; NULL: the name is a path. */
    recmap_status (*open)(int *fd, void *context, const char *name, recmap_error *error);
    void *open_context;
    /* The points that an index has of a shard, to go on at behind damage, and what it inflates to;
     * NULL: they are to be taken. Called on the workers, with open_context. */
    recmap_status (*known_points)(struct point_list *points, uint64_t *size, void *context,
                                  size_t shard_index, recmap_error *error);
    recmap_progress_fn progress;
    void *progress_context;
    recmap_progress *totals; /* bytes_done and record_count go on from here; the total is known */
};

/* Who takes what the scan finds, on the caller's thread, in order. An error ends the scan. */
struct scan_sink {
    void *context;
    recmap_status (*begin_shard)(void *context, const char *path, recmap_error *error);
    recmap_status (*add_run)(void *context, const struct record_run *run, recmap_error *error);
    /* Of length 0, at the end: nothing is known to be lost, but the checksum of a compressed member
     * does not hold. */
    recmap_status (*add_damage)(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error);
    recmap_status (*end_shard)(void *context, const struct shard_end *end, recmap_error *error);
    /* A shard that cannot be opened ends here; NULL: it is an error. `why` is what open said. */
    recmap_status (*skip_shard)(void *context, const recmap_error *why, recmap_error *error);
};

/* Scans `paths` in order. Errors name shard, record (counted from totals->record_count on) and
 * byte. */
recmap_status scan_shards(const char *const *paths, size_t path_count, const struct scan_sink *sink,
                          const struct scan_options *options, recmap_error *error);

#endif
