/* Local files that are several shards of a build: a shard may be meant to count twice. */
#ifndef RECMAP_INDEX_BUILD_SHARD_FILES_H
#define RECMAP_INDEX_BUILD_SHARD_FILES_H

#include "index/build/named_shards.h"

/* Warns of the first new file that has another name, by a link, under which it is a shard too; and
 * of the first one that is a copy of another new file, in another folder: of at least 4 KiB and
 * of the same name, size and sampled bytes. Errors: NO_MEMORY; CANCELLED. */
recmap_status shard_files_check(const struct named_shards *list, recmap_error *error);

#endif
