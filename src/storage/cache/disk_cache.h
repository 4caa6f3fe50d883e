/* A folder with copies of parts of remote objects, and with inflated spans of compressed shards, so
 * that the next epoch need not request or inflate them again. The folder's files are shared by all
 * processes of one user that name it.
 *
 *     FOLDER/lock          locked shared by every process that uses the cache
 *     FOLDER/usage         the bytes in use, and when the first of these processes began
 *     FOLDER/NAME.rmcache  one sparse file for each version of an object, or each compressed shard
 *                          (cache_file.h)
 *
 * Parts are added until the cache is full. Nothing that a running process uses is removed: while a
 * shuffled epoch uses every record once, replacing an old part by a new one gains nothing, and
 * loses the old one. Files that no process has used since the first running one began are removed
 * when space is needed, those that were used longest ago first.
 *
 * The cache only saves time. If its disk is full or fails, it stays as it is, and a warning says
 * so.
 */
#ifndef RECMAP_STORAGE_CACHE_DISK_CACHE_H
#define RECMAP_STORAGE_CACHE_DISK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#include "base/os/list.h"

struct disk_cache;

/* A size of 0 means: until a tenth of the disk is left. Creates the folder if only its last part
 * is missing. Errors: IO, NO_MEMORY. */
recmap_status disk_cache_open(struct disk_cache **cache, const char *folder, uint64_t size,
                              recmap_error *error);

/* NULL may be closed. */
void disk_cache_close(struct disk_cache *cache);

const char *disk_cache_folder(const struct disk_cache *cache);

/* Asks for space for `size` more bytes; disk_cache_settle ends the reservation. False: the cache
 * has no room for so many bytes, now and for the rest of the run. */
bool disk_cache_reserve(struct disk_cache *cache, uint64_t size);

/* Ends a reservation of `size` bytes, of which `used` were used. The rest is given back. */
void disk_cache_settle(struct disk_cache *cache, uint64_t size, uint64_t used);

/* Takes back the space of parts that were forgotten, which the next parts reuse. */
void disk_cache_reuse(struct disk_cache *cache, uint64_t size);

/* Counts reads that the cache answered, and reads for which it did not have all bytes. */
void disk_cache_count(struct disk_cache *cache, uint64_t hit_count, uint64_t miss_count);
void disk_cache_counts(uint64_t *hit_count, uint64_t *miss_count, const struct disk_cache *cache);

/* Stops adding: the disk is full or fails, as `reason` says. */
void disk_cache_stop(struct disk_cache *cache, const recmap_error *reason);

/* Warns of the reason for which the cache stopped adding, if that was not done before. The caller
 * holds no lock. */
void disk_cache_warn(struct disk_cache *cache);

/* Excludes other processes and threads that create or remove files of the cache, until
 * disk_cache_unlock. Returns -1 if that is not possible. */
int disk_cache_lock(const struct disk_cache *cache);
void disk_cache_unlock(int lock);

/* Marks a file of the cache as used by this run. Returns false if there is no such file. */
bool disk_cache_touch(const char *path);

#endif
