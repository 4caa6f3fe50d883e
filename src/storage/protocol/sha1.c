#include "storage/protocol/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, LENGTH_OFFSET = 56 };

static uint32_t rotate(uint32_t x, unsigned bits) {
    return x << bits | x >> (32 - bits);
}

static void expand(uint32_t words[80], const uint8_t block[BLOCK]) {
    for (unsigned i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
}

/* The function and the constant of a round: section 4.1.1 and 4.2.1. */
static uint32_t mix(unsigned round, const uint32_t v[5]) {
    uint32_t b = v[1], c = v[2], d = v[3];
    if (round < 20) return ((b & c) ^ (~b & d)) + 0x5a827999;
    if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60) return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

/* The variables are those of section 6.1.2: a to e are v[0] to v[4]. */
static void compress(uint32_t state[5], const uint8_t block[BLOCK]) {
    uint32_t words[80], v[5];
    expand(words, block);
    memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t first = rotate(v[0], 5) + mix(i, v) + v[4] + words[i];
        memmove(v + 1, v, 4 * sizeof *v);
        v[2] = rotate(v[2], 30);
        v[0] = first;
    }
    for (unsigned i = 0; i < 5; i++) state[i] += v[i];
}

void sha1_write_hex(char hex[SHA1_HEX_SIZE], const char *text) {
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t size = strlen(text), left = size;
    uint64_t bits = (uint64_t)size * 8;
    uint8_t block[BLOCK] = {0};
    for (; left >= BLOCK; text += BLOCK, left -= BLOCK) compress(state, (const uint8_t *)text);
    memcpy(block, text, left);
    block[left] = 0x80;
    if (left >= LENGTH_OFFSET) {
        compress(state, block);
        memset(block, 0, sizeof block);
    }
    for (unsigned i = 0; i < 8; i++) block[LENGTH_OFFSET + i] = (uint8_t)(bits >> (56 - 8 * i));
    compress(state, block);
    for (unsigned i = 0; i < 5; i++) snprintf(hex + 8 * (size_t)i, 9, "%08x", (unsigned)state[i]);
}
