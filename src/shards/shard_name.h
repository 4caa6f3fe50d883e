/* Names of shard files: which can be shards, and what they call their data set. Sizes are in bytes,
 * of the beginning of a name. */
#ifndef RECMAP_SHARDS_SHARD_NAME_H
#define RECMAP_SHARDS_SHARD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* False for names that never are shards: recmap's own files, finished and temporary. */
bool shard_name_is_possible(const char *name);

/* Whether a relative name, as an index has it, stays in the folder of the index: none of its
 * components is empty, `.` or `..`. */
bool shard_name_stays_inside(const char *name);

/* What a folder stands for: not hidden, not `_...`, and none of the companions of shards. */
bool shard_name_is_likely(const char *name);

/* The name without extensions: 4 for data.tfrecord.gz. Dots at its beginning belong to it. */
size_t shard_name_stem_size(const char *name);

/* The common beginning of the first `size` bytes of `first` and of `other`. */
size_t shard_name_common_size(const char *first, size_t size, const char *other);

/* The first `size` bytes of `name` without the digits and separators at their end, and without a
 * character of UTF-8 that `size` cuts apart. */
size_t shard_name_trim_size(const char *name, size_t size);

#endif
