/* Shards that only grew since they were indexed: records were added at their end. */
#ifndef RECMAP_INDEX_TABLES_GROWN_H
#define RECMAP_INDEX_TABLES_GROWN_H

#include "base/os/source.h"
#include "index/tables/index.h"

/* Returns false if more records at the end of the file cannot be distinguished from other changes,
 * or cannot be read alone: the shard is compressed, or its framing does not say where a record
 * ends. */
bool index_shard_can_grow(const struct index_shard *shard);

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
