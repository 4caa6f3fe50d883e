/* A set of shards to measure on: FOLDER/NAME/NAME-00000-of-00008.tfrecord ..., with its indexes
 * beside it as FOLDER/NAME.rmx and, with ids, FOLDER/NAME-ids.rmx. bench_make_sets writes them. */
#ifndef RECMAP_BENCH_C_SET_H
#define RECMAP_BENCH_C_SET_H

#include <stdbool.h>

#include <recmap/recmap.h>

enum { SET_PATH_SIZE = 4096, SET_SHARD_COUNT = 8 };

/* Path of a shard, and of an index: `suffix` "" or "-ids". */
void set_shard_path(char path[SET_PATH_SIZE], const char *folder, const char *name, unsigned shard,
                    unsigned shard_count);
void set_index_path(char path[SET_PATH_SIZE], const char *folder, const char *name,
                    const char *suffix);

/* Returns true if there are shards; then `shards` is their list, which the caller destroys. */
bool set_find(recmap_shards **shards, const char *folder, const char *name);

/* Builds the index of the set at `path`, and gives the time that it took. */
uint64_t set_build(recmap_index_summary *summary, const char *folder, const char *name,
                   const char *path, const recmap_index_options *options);

/* Opens the set's index, built first if it is not there; with `with_ids` the one with ids. */
recmap_dataset *set_open(const char *folder, const char *name, bool with_ids,
                         const recmap_dataset_options *options);

#endif
