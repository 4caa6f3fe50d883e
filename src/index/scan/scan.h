/* The scan: finds all records of shard files in one pass, on all cores, and returns them in order.
 *
 *     segments of shards ──> workers scan each from a guess ──> the caller's thread joins them
 *
 * The result equals that of a single scan from the first byte to the last, whatever the number of
 * threads: if the previous segment does not arrive at the guess, the segment is scanned again. */
#ifndef RECMAP_INDEX_SCAN_SCAN_H
#define RECMAP_INDEX_SCAN_SCAN_H

#include <recmap/index.h>

#include "format/framing/framing.h"
#include "format/shards/shard_source.h"
#include "index/extract/extract.h"
#include "index/extract/run.h"
#include "index/scan/shard_end.h"

struct scan_header;

/* How a shard is read. */
struct scan_form {
    const struct framing *framing; /* NULL: TFRecord */
    recmap_compression compression;
    /* Of a plain shard, the bytes to scan: from `start`, where a frame begins, to the end of the
     * file or, if the scan is bounded, to `end`. */
    uint64_t start, end;
    bool is_bounded;
};

struct scan_options {
    struct scan_form form;         /* of all shards */
    const struct scan_form *forms; /* one per shard, instead of `form`; or NULL */
    unsigned thread_count;         /* 0: one per core; for remote shards, at least four */
    recmap_on_bad_record on_bad_record;
    const struct extractor *extractor;
    const struct scan_header *header; /* the first row that files of a framing with headers have;
                                         NULL: any */
    uint64_t memory_limit; /* of scanning a compressed shard, in bytes; 0: the default limits */
    uint64_t segment_size; /* also what is requested at once of a remote shard; 0: the defaults;
                              tests use small ones */
    bool never_maps;       /* local shards are read */
    bool refuses_others; /* with SKIP: a file without records that is known to be of another kind is
                            an error */
    /* Opens the shard `shard_index` of `paths`; `path` is its path there. NULL: the path, or URL,
     * is opened. */
    recmap_status (*open)(struct source **source, void *context, size_t shard_index,
                          const char *path, const struct remote_identity *expected,
                          recmap_error *error);
    void *open_context;
    recmap_storage *storage; /* for URLs; NULL: the defaults */
    /* Reads the seek points that an index has of a compressed shard, and the size of its image. The
     * scan then resumes at them after damage. NULL: the scan takes new points. Called by workers,
     * with open_context. */
    recmap_status (*known_points)(struct point_list *points, uint64_t *size, void *context,
                                  size_t shard_index, recmap_error *error);
    recmap_progress_fn progress;
    void *progress_context;
    recmap_progress *totals; /* the scan adds to its counts */
};

/* Receives the results, on the caller's thread and in order. An error ends the scan. */
struct scan_sink {
    void *context;
    recmap_status (*begin_shard)(void *context, const char *path, recmap_error *error);
    recmap_status (*add_run)(void *context, const struct record_run *run, recmap_error *error);
    /* Damage of length 0, at the end of a shard, means that the checksum of a compressed member is
     * wrong although all its records are good. */
    recmap_status (*add_damage)(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error);
    recmap_status (*end_shard)(void *context, const struct shard_end *end, recmap_error *error);
    /* Called instead of end_shard for a shard that cannot be opened; `cause` is that error. NULL:
     * such a shard ends the scan. */
    recmap_status (*skip_shard)(void *context, const recmap_error *cause, recmap_error *error);
};

/* Errors: INVALID if the limit is not 0 and less than a scan needs. */
recmap_status scan_check_memory_limit(uint64_t limit, recmap_error *error);

/* Scans `paths` in order, by which messages name the shards. Errors name shard, record (counted
 * from totals->record_count on) and byte. */
recmap_status scan_shards(const char *const *paths, size_t path_count, const struct scan_sink *sink,
                          const struct scan_options *options, recmap_error *error);

#endif
