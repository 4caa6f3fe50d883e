/* Shards whose files changed since they were indexed, or only grew: records were added at their
 * end. */
#ifndef RECMAP_INDEX_TABLES_GROWN_H
#define RECMAP_INDEX_TABLES_GROWN_H

#include "base/os/source.h"
#include "index/tables/index.h"

/* Returns false if more records at the end of the file cannot be distinguished from other changes,
 * or cannot be read alone: the shard is compressed, or its framing does not say where a record
 * ends. */
bool index_shard_can_grow(const struct index_shard *shard);

/* Returns true if the source is certainly the indexed version, judging by what is known without
 * reading it. `entry` describes the last part of the file. */
bool index_is_same_version(const struct source *source, const struct shard_entry *entry);

/* Checks a file of the indexed size, or an object: another version must have the sampled records;
 * of a compressed file, only the first is compared. Another version of an object is another object.
 * `shard_index` is the last part of the file. Errors: as below. */
recmap_status index_check_same(struct index_file *index, uint32_t shard_index,
                               struct source *source, recmap_error *error);

/* Sets `is_same` to whether the source has the size and the sampled records of the indexed shard,
 * which has any. Its time of modification says nothing: archives and hubs set it to a constant.
 * Errors: IO; NO_MEMORY; CORRUPT naming the index. */
recmap_status index_compare_contents(bool *is_same, struct index_file *index, uint32_t shard_index,
                                     struct source *source, recmap_error *error);

/* Checks that the last record of the shard is whole and ends where it did, although the file is
 * larger now. Errors: STALE with what differs, without advice; IO; NO_MEMORY; CORRUPT naming the
 * index. */
recmap_status index_check_end(struct index_file *index, uint32_t shard_index, struct source *source,
                              recmap_error *error);

/* Checks also that the sampled records are unchanged, and that new records can only begin where the
 * shard ends. Errors: as above. */
recmap_status index_check_grown(struct index_file *index, uint32_t shard_index,
                                struct source *source, recmap_error *error);

#endif
