/* The parts of a build: shards to scan, and existing indexes. */
#ifndef RECMAP_INDEX_BUILD_BUILD_PART_H
#define RECMAP_INDEX_BUILD_BUILD_PART_H

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

/* Returns true for a shard that no index has. */
bool build_part_is_new(const struct build_part *part);

/* The first byte of the part's shard to scan, and how the shard is framed if it grew. */
uint64_t build_part_start(const struct build_part *part);
const struct framing *build_part_framing(const struct build_part *part,
                                         const struct framing *framing);

/* Checks the shards that are in an index, of `count` parts, and sets `is_complete`: they are the
 * same or only grew. Errors: STALE if one changed otherwise; IO; CANCELLED. */
recmap_status build_parts_check_grown(struct build_part *parts, size_t count,
                                      recmap_storage *storage, recmap_error *error);

#endif
