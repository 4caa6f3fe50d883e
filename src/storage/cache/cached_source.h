/* A source that keeps what it reads in a cache on the local disk. */
#ifndef RECMAP_STORAGE_CACHE_CACHED_SOURCE_H
#define RECMAP_STORAGE_CACHE_CACHED_SOURCE_H

#include "base/os/source.h"
#include "storage/cache/disk_cache.h"

/* Replaces the source of an object by one that reads through the cache. If the cache cannot be used
 * for it, the source stays as it is. With `checks_blocks`, cached bytes are compared with their
 * checksums; without, the caller has checksums of its own, and calls source_forget if they differ.
 * The cache must outlive the source. */
void cached_source_replace(struct source **source, struct disk_cache *cache, bool checks_blocks);

#endif
