/* Opening shards by name: local files and objects in remote stores. */
#ifndef RECMAP_FORMAT_SHARDS_SHARD_SOURCE_H
#define RECMAP_FORMAT_SHARDS_SHARD_SOURCE_H

#include "storage/remote/remote.h"

/* Returns true if a name in an index is complete: an absolute path or a URL. Other names are
 * relative to a folder. */
bool shard_name_is_absolute(const char *name);

/* Opens a local file by its path, or an object by its URL: see remote_open. */
recmap_status shard_source_open(struct source **source, const char *name, recmap_storage *storage,
                                const struct remote_identity *expected, recmap_error *error);

#endif
