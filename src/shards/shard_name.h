/* Names of shard files: which names can be shards, and which name their data set gets from them.
 * Sizes are in bytes, counted from the beginning of a name. */
#ifndef RECMAP_SHARDS_SHARD_NAME_H
#define RECMAP_SHARDS_SHARD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* False for files that recmap writes, complete or temporary: they are never shards. */
bool shard_name_is_possible(const char *name);

/* Whether a relative name in an index stays in the folder of the index: none of its components is
 * empty, `.` or `..`. */
bool shard_name_stays_inside(const char *name);

/* Whether a file found in a folder is taken for a shard: it is not hidden, does not begin with `_`,
 * and is not a file that usually accompanies shards. */
bool shard_name_is_likely(const char *name);

/* The size of the name without extensions: 4 for data.tfrecord.gz. Leading dots are part of it. */
size_t shard_name_stem_size(const char *name);

/* The size of the common beginning of the first `size` bytes of `first` and of `other`. */
size_t shard_name_common_size(const char *first, size_t size, const char *other);

/* The size of the first `size` bytes of `name` without trailing digits and separators, and without
 * an incomplete UTF-8 character at the end. */
size_t shard_name_trim_size(const char *name, size_t size);

#endif
