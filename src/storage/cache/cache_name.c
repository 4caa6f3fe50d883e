#include "storage/cache/cache_name.h"

#include <string.h>

#include "storage/protocol/sha256.h"

enum { DIGITS = 32 };

static const char suffix[] = ".rmcache";

bool cache_key_is_exact(const struct cache_key *key) {
    return key->size && (key->etag[0] || key->mtime_ns);
}

void cache_name_write(char name[CACHE_NAME_SIZE], const struct cache_key *key) {
    struct sha256 sha;
    uint8_t digest[SHA256_SIZE];
    char hex[2 * SHA256_SIZE + 1];
    sha256_init(&sha);
    sha256_update(&sha, key->url, strlen(key->url) + 1);
    sha256_update(&sha, key->etag, strlen(key->etag) + 1);
    sha256_update(&sha, &key->size, sizeof key->size);
    sha256_update(&sha, &key->mtime_ns, sizeof key->mtime_ns);
    sha256_finish(digest, &sha);
    sha256_write_hex(hex, digest);
    memcpy(name, hex, DIGITS);
    memcpy(name + DIGITS, suffix, sizeof suffix);
}

bool cache_name_is_valid(const char *name) {
    return strspn(name, "0123456789abcdef") == DIGITS && !strcmp(name + DIGITS, suffix);
}
