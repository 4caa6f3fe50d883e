/* The shards of all parts of a build, by their names: none may occur twice, unless a shard of an
 * index is named again, whose new records are then added. */
#ifndef RECMAP_INDEX_BUILD_NAMED_SHARDS_H
#define RECMAP_INDEX_BUILD_NAMED_SHARDS_H

#include <recmap/shards.h>

#include "format/shards/shard_source.h"
#include "index/tables/index.h"

/* A part of the new index: a shard to scan, or an existing index to replay. */
struct build_part {
    char *path;     /* as the caller named it */
    char *resolved; /* absolute, in a folder without links; for an index, the folder of its names */
    char *target;   /* of a shard that is a link: the file that it leads to; else NULL */
    struct index_file *index; /* NULL: a shard */
    /* If a preceding part is an index that has this shard, that index and the last part of the
     * shard in it: only the records that follow are scanned. */
    struct index_file *grown;
    uint32_t grown_shard;
    bool is_complete; /* no records follow: there is nothing to scan */
};

/* Sets `grown` and `is_complete` of the shards that are in an index, after checking that they are
 * the same or only grew. Errors: INVALID if a shard is named twice, or `sets` does not join copies
 * and a part has a copy of another part's set, or an index has a shard under another path; STALE if
 * a shard of an index changed otherwise; IO; CANCELLED. `file_count` is the number of different
 * shards. */
recmap_status named_shards_match(uint64_t *file_count, struct build_part *parts, size_t count,
                                 recmap_sets sets, recmap_storage *storage, recmap_error *error);

/* The first byte of the part's shard to scan, and how the shard is framed if it grew. */
uint64_t build_part_start(const struct build_part *part);
const struct framing *build_part_framing(const struct build_part *part,
                                         const struct framing *framing);

#endif
