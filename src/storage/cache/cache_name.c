#include "storage/cache/cache_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { DIGITS = 32 };

static const char suffix[] = ".rmcache";

bool cache_key_is_exact(const struct cache_key *key) {
    return key->size && (key->etag[0] || key->mtime_ns);
}

void cache_name_write(char name[CACHE_NAME_SIZE], const struct cache_key *key) {
    struct {
        XXH128_hash_t url, etag;
        uint64_t size;
        int64_t mtime_ns;
    } parts = {XXH3_128bits(key->url, strlen(key->url)), XXH3_128bits(key->etag, strlen(key->etag)),
               key->size, key->mtime_ns};
    XXH128_hash_t hash = XXH3_128bits(&parts, sizeof parts);
    snprintf(name, CACHE_NAME_SIZE, "%016" PRIx64 "%016" PRIx64 "%s", (uint64_t)hash.high64,
             (uint64_t)hash.low64, suffix);
}

bool cache_name_is_valid(const char *name) {
    return strspn(name, "0123456789abcdef") == DIGITS && !strcmp(name + DIGITS, suffix);
}
