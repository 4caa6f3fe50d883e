/* Little-endian loads and stores, checked arithmetic, bounds. */
#ifndef RECMAP_BASE_CORE_BYTES_H
#define RECMAP_BASE_CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns whether [offset, offset + size) is within [0, length). Cannot overflow. */
static inline bool bytes_fit(uint64_t offset, uint64_t size, uint64_t length) {
    return size <= length && offset <= length - size;
}

static inline uint16_t load16(const void *p) {
    const uint8_t *b = p;
    return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t load32(const void *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline uint64_t load64(const void *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void store16(void *p, uint16_t v) {
    uint8_t *b = p;
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
}

static inline void store32(void *p, uint32_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline void store64(void *p, uint64_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

/* Returns true if the bytes are the same; fast for short names, for which calling memcmp takes
 * longer than comparing them. */
static inline bool bytes_equal(const void *left, const void *right, size_t size) {
    const uint8_t *a = left, *b = right;
    if (size > 16) return !memcmp(a, b, size);
    if (size >= 8)
        return !((load64(a) ^ load64(b)) | (load64(a + size - 8) ^ load64(b + size - 8)));
    if (size >= 4)
        return !((load32(a) ^ load32(b)) | (load32(a + size - 4) ^ load32(b + size - 4)));
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* Returns true if the reserved words of a public struct are unused. They are not in a program that
 * was compiled for a later version, whose wishes must not be ignored. */
static inline bool are_unused(const uint64_t *words, size_t count) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) any |= words[i];
    return any == 0;
}

/* Returns the number of bits needed to represent `v`: 0 for 0, at most 64. */
static inline unsigned bit_length(uint64_t v) {
    return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

#endif
