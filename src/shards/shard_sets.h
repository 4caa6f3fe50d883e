/* The sets in a list of shards, by the names of their files. */
#ifndef RECMAP_SHARDS_SHARD_SETS_H
#define RECMAP_SHARDS_SHARD_SETS_H

#include <recmap/status.h>

#include "shards/set_label.h"

struct shard_set {
    struct set_label label; /* of its first shard */
    size_t shard_count;
    size_t first; /* the index of its first shard in the list */
};

/* In the order of their first shards. */
struct shard_sets {
    struct shard_set *sets;
    size_t count;
    size_t capacity;
};

#define SHARD_SETS_INIT                                                                            \
    { NULL, 0, 0 }

/* Finds the sets of `count` paths, which must outlive the result. Files without -of-N that are
 * there twice, such as x.tfrecord and x.tfrecord.gz, form a set for each suffix instead of one.
 * Asks the thread's interrupt. Errors: NO_MEMORY, CANCELLED. */
recmap_status shard_sets_find(struct shard_sets *sets, char *const *paths, size_t count,
                              recmap_error *error);
void shard_sets_deinit(struct shard_sets *sets);

#endif
