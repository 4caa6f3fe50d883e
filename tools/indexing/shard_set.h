/* The shards of a set, NAME@N[END]: NAME-00000-of-0000N[END] and so on, and their index NAME.rmx;
 * or the one shard NAME.tfrecord with its index. Shards whose names end in .gz or .zlib are
 * compressed. */
#ifndef RECMAP_TOOLS_INDEXING_SHARD_SET_H
#define RECMAP_TOOLS_INDEXING_SHARD_SET_H

#include "output/output.h"
#include "records/view.h"

/* Returns false if output in this format to `path`, which may be NULL, is not a set: if it has
 * another name, or if it is a single file and a format was given. */
bool shard_set_is_named(const char *path, enum output_format format);

/* Returns true if the shards of a set of this name are compressed. */
bool shard_set_is_compressed(const char *path);

/* Checks that a set has a valid number of shards, and is not asked for in another format than
 * TFRecord. Returns 0, or the exit status after printing the error. */
int shard_set_check(const struct args *args, const char *path, enum output_format format);

/* Writes the items of a view at `positions` into the shards of the set at `path` as TFRecord files:
 * consecutive parts that are as equal as possible, so that record i of the set is item i of the
 * source. Then builds the index, with the ids, counted features and lifted columns of the view's
 * index.
 *
 * Nothing that exists is replaced. After an error or a signal, no file of the set remains. */
recmap_status shard_set_write(const char *path, const struct view *view,
                              struct number_source positions, recmap_error *error);

/* Writes all items in their order. Returns 0, or the exit status after printing the error. */
int shard_set_write_all(const char *path, const struct view *view);

#endif
