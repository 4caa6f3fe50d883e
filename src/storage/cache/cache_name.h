/* What a file of the cache is for, and the file's name. Pure. */
#ifndef RECMAP_STORAGE_CACHE_CACHE_NAME_H
#define RECMAP_STORAGE_CACHE_CACHE_NAME_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHE_NAME_SIZE = 41 }; /* 32 hexadecimal digits, ".rmcache" and a NUL */

/* A version of an object. */
struct cache_key {
    const char *url;
    const char *etag;
    uint64_t size;
    int64_t mtime_ns;
    uint64_t layout; /* a hash of where its bytes are in the file; 0: in their order */
};

/* Returns true if the key names one version: without an ETag, the time must be known. */
bool cache_key_is_exact(const struct cache_key *key);

/* The name is a hash of the key, without the layout, which is known only when a shard is opened.
 * Servers choose URLs and ETags, so two keys may have the same hash: the file also stores its key,
 * and serves no other (cache_file.h). */
void cache_name_write(char name[CACHE_NAME_SIZE], const struct cache_key *key);

/* Returns true if a file has such a name. The folder may contain other files. */
bool cache_name_is_valid(const char *name);

#endif
