/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for signing requests. Pure. */
#ifndef RECMAP_STORAGE_PROTOCOL_SHA256_H
#define RECMAP_STORAGE_PROTOCOL_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* of all data so far */
    uint8_t block[SHA256_BLOCK];
};

void sha256_init(struct sha256 *sha);
void sha256_update(struct sha256 *sha, const void *data, size_t size);
void sha256_finish(uint8_t digest[SHA256_SIZE], struct sha256 *sha);

void hmac_sha256(uint8_t digest[SHA256_SIZE], const void *key, size_t key_size, const void *data,
                 size_t size);

/* Writes the digest as 64 lower-case hexadecimal digits and a NUL. */
void sha256_write_hex(char hex[2 * SHA256_SIZE + 1], const uint8_t digest[SHA256_SIZE]);

#endif
