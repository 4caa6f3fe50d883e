/* All checks of the parts of a build that precede it. */
#ifndef RECMAP_INDEX_BUILD_PART_CHECK_H
#define RECMAP_INDEX_BUILD_PART_CHECK_H

#include <recmap/shards.h>

#include "index/build/build_part.h"

/* Sets `grown` and `is_complete` of the shards that are in an index, after checking that they are
 * the same or only grew. Errors: INVALID if a shard is named twice, or `sets` does not join copies
 * and a part has a copy of another part's set, or an index has a shard under another path; STALE if
 * a shard of an index changed otherwise; IO; CANCELLED. `file_count` is the number of different
 * shards. */
recmap_status part_check(uint64_t *file_count, struct build_part *parts, size_t count,
                         recmap_sets sets, recmap_storage *storage, recmap_error *error);

#endif
