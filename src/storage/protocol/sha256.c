#include "storage/protocol/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned bits) {
    return x >> bits | x << (32 - bits);
}

static uint32_t load_big32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_big32(uint8_t *bytes, uint32_t x) {
    for (unsigned i = 0; i < 4; i++) bytes[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void expand(uint32_t words[64], const uint8_t *block) {
    for (unsigned i = 0; i < 16; i++) words[i] = load_big32(block + 4 * i);
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* One step of section 6.2.2 of FIPS 180-4, with its variables. Instead of moving all of them to
 * their neighbours, the caller renames them. */
static inline void step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                        uint32_t g, uint32_t *h, uint32_t added) {
    uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t first = *h + sum1 + ((e & f) ^ (~e & g)) + added;
    *d += first;
    *h = first + sum0 + ((a & b) ^ (a & c) ^ (b & c));
}

/* Mixes a block of 64 bytes into the state, in 64 steps. Each step moves every variable one place
 * on; here the calls name the variables in turn instead, which repeats after eight. */
static void compress(uint32_t state[8], const uint8_t *block) {
    uint32_t words[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    expand(words, block);
    for (unsigned i = 0; i < 64; i += 8) {
        uint32_t added[8];
        for (unsigned j = 0; j < 8; j++) added[j] = round_constants[i + j] + words[i + j];
        step(a, b, c, &d, e, f, g, &h, added[0]);
        step(h, a, b, &c, d, e, f, &g, added[1]);
        step(g, h, a, &b, c, d, e, &f, added[2]);
        step(f, g, h, &a, b, c, d, &e, added[3]);
        step(e, f, g, &h, a, b, c, &d, added[4]);
        step(d, e, f, &g, h, a, b, &c, added[5]);
        step(c, d, e, &f, g, h, a, &b, added[6]);
        step(b, c, d, &e, f, g, h, &a, added[7]);
    }
    const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++) state[i] += sums[i];
}

void sha256_init(struct sha256 *sha) {
    *sha = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_update(struct sha256 *sha, const void *data, size_t size) {
    const uint8_t *bytes = data;
    while (size) {
        size_t used = sha->size % SHA256_BLOCK, room = SHA256_BLOCK - used;
        size_t part = size < room ? size : room;
        memcpy(sha->block + used, bytes, part);
        sha->size += part;
        bytes += part;
        size -= part;
        if (part == room) compress(sha->state, sha->block);
    }
}

void sha256_finish(uint8_t digest[SHA256_SIZE], struct sha256 *sha) {
    static const uint8_t padding[SHA256_BLOCK] = {0x80};
    uint64_t bits = sha->size * 8;
    size_t used = sha->size % SHA256_BLOCK;
    uint8_t length[8];
    store_big32(length, (uint32_t)(bits >> 32));
    store_big32(length + 4, (uint32_t)bits);
    sha256_update(sha, padding, used < 56 ? 56 - used : 120 - used);
    sha256_update(sha, length, sizeof length);
    for (unsigned i = 0; i < 8; i++) store_big32(digest + 4 * i, sha->state[i]);
}

static void hash_keyed(uint8_t digest[SHA256_SIZE], const uint8_t key[SHA256_BLOCK], uint8_t pad,
                       const void *data, size_t size) {
    uint8_t padded[SHA256_BLOCK];
    for (size_t i = 0; i < sizeof padded; i++) padded[i] = key[i] ^ pad;
    struct sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, padded, sizeof padded);
    sha256_update(&sha, data, size);
    sha256_finish(digest, &sha);
}

void hmac_sha256(uint8_t digest[SHA256_SIZE], const void *key, size_t key_size, const void *data,
                 size_t size) {
    uint8_t block[SHA256_BLOCK] = {0}, inner[SHA256_SIZE];
    if (key_size > sizeof block) {
        struct sha256 sha;
        sha256_init(&sha);
        sha256_update(&sha, key, key_size);
        sha256_finish(block, &sha);
    } else if (key_size) {
        memcpy(block, key, key_size);
    }
    hash_keyed(inner, block, 0x36, data, size);
    hash_keyed(digest, block, 0x5c, inner, sizeof inner);
}

void sha256_write_hex(char hex[2 * SHA256_SIZE + 1], const uint8_t digest[SHA256_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[2 * SHA256_SIZE] = 0;
}
