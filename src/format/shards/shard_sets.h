/* The sets in a list of shards, by the names of their files. */
#ifndef RECMAP_FORMAT_SHARDS_SHARD_SETS_H
#define RECMAP_FORMAT_SHARDS_SHARD_SETS_H

#include <recmap/status.h>

#include "format/shards/set_label.h"

struct shard_set {
    struct set_label label; /* of its first shard */
    size_t shard_count;
    size_t first;     /* the index of its first shard in the list */
    unsigned largest; /* number of a shard, if the shards are numbered */
    bool is_copy;     /* of files that are there too: by the marks in the names of its shards */
    bool has_mark;    /* the name of one of its shards has the mark of a copy */
};

/* In the order of their first shards. */
struct shard_sets {
    struct shard_set *sets;
    size_t count;
    size_t capacity;
};

#define SHARD_SETS_INIT                                                                            \
    { NULL, 0, 0 }

/* Finds the sets of `count` paths, which must outlive the result. If a file without -of-N is there
 * twice, as x.tfrecord and x.tfrecord.gz, such files form a set for each compression. Copies of
 * files by the marks in their names, as "x (1).tfrecord" of x.tfrecord, form sets of their own:
 * see marked_copies.h. Asks the thread's interrupt. Errors: NO_MEMORY, CANCELLED. */
recmap_status shard_sets_find(struct shard_sets *sets, char *const *paths, size_t count,
                              recmap_error *error);

/* Writes how to name the set, shortened to fit the capacity: NAME@N[END], a pattern if that cannot
 * name it, or its first file and the number of others. */
void shard_set_write_title(char *title, size_t capacity, const struct shard_set *set,
                           bool has_folder);

/* Returns true if one name opens the set: its title, or its only file. NAME@N is an error if the
 * set is not whole, or the name of a shard has a mark. */
bool shard_set_has_name(const struct shard_set *set);

void shard_sets_deinit(struct shard_sets *sets);

#endif
