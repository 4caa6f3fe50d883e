/* Indexes that are built from parts: shards, and other indexes. */
#ifndef RECMAP_TESTS_UNIT_INDEX_BUILD_PARTS_H
#define RECMAP_TESTS_UNIT_INDEX_BUILD_PARTS_H

#include <recmap/index.h>

#include "support/random.h"

struct build_part {
    const char *index; /* or a shard */
    const char *shard;
};

recmap_status parts_build(const char *path, const recmap_index_options *options,
                          const struct build_part *parts, size_t count, recmap_error *error);

/* Appends shards [first, end) to the index, one or more at a time. */
void parts_append(const char *path, const recmap_index_options *options, const char *const *names,
                  size_t first, size_t end, struct rng *random);

/* Indexes the shards with one thread, with several, by appending and by merging: the bytes are the
 * same. The index is once.rmx. */
void assert_same_by_all_paths(recmap_index_options *options, const char *const *names, size_t count,
                              struct rng *random);

#endif
