/* Names of shard files: which names can be shards, and which name their data set gets from them.
 * Sizes are in bytes, counted from the beginning of a name. */
#ifndef RECMAP_FORMAT_SHARDS_SHARD_NAME_H
#define RECMAP_FORMAT_SHARDS_SHARD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Returns false for recmap's own files, which are never shards: indexes and selections, complete or
 * temporary, and their locks. */
bool shard_name_is_possible(const char *name);

/* Returns true if a file of this name is unfinished, or belongs to one that is: the temporary names
 * of recmap (TARGET.tmp-<16 hex digits>), of TFDS, Flink and Hadoop, of programs that download or
 * copy, backups, and the marks and checksums of Spark and Hadoop. Files that are matched or found
 * are never shards if their names are these; files that are named are. */
bool shard_name_is_temporary(const char *name);

/* The size of the name of the file that this one is a backup of: 1 for x.bak and x~. 0 if the name
 * is not that of a backup. All backups have temporary names. */
size_t shard_name_backup_size(const char *name);

/* Returns true if the file of this path, or a folder in it, has a temporary name. Spark, Hadoop,
 * TFDS and Beam create temporary folders. */
bool shard_path_is_temporary(const char *path);

/* Returns true if a relative name in an index stays in the folder of the index: none of its
 * components is empty, `.` or `..`. */
bool shard_name_stays_inside(const char *name);

/* Returns true for documents, metadata, checksums and other files that accompany shards. */
bool shard_name_is_companion(const char *name);

/* Returns true if a file in a folder can be a shard: it is not hidden or temporary, does not begin
 * with `_`, and does not accompany shards. */
bool shard_name_is_likely(const char *name);

/* Returns true for text files (.txt, .csv, .jsonl, ...), compressed or not. They are the shards of
 * a folder if lines are read, or if it has no others: beside others they hold labels, lists or
 * logs. */
bool shard_name_is_text(const char *name);

/* Returns true for names that only shards of records have: x.tfrecord, x-00000-of-00002,
 * part-00000 and so on, compressed or not. */
bool shard_name_is_record(const char *name);

/* The size of the name without extensions: 4 for data.tfrecord.gz. Leading dots are part of it. */
size_t shard_name_stem_size(const char *name);

/* The size of the common beginning of the first `size` bytes of `first` and of `other`. */
size_t shard_name_common_size(const char *first, size_t size, const char *other);

/* The size of the first `size` bytes of `name` without trailing digits and separators, and without
 * an incomplete UTF-8 character at the end. */
size_t shard_name_trim_size(const char *name, size_t size);

#endif
