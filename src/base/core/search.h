/* Binary search. Searches whose keys may fail, and one that this would slow down, are written out
 * where they occur. */
#ifndef RECMAP_BASE_CORE_SEARCH_H
#define RECMAP_BASE_CORE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of keys below `limit` among `count` ascending keys, which is the index of the first
 * key at or above it. Key i is the uint64_t that is i * `stride` bytes after `first_key`: a member
 * of an array of structs, or with stride 8 an array of keys. If the keys do not ascend, the result
 * is wrong but still at most `count`. */
static inline size_t search_below(const uint64_t *first_key, size_t stride, size_t count,
                                  uint64_t limit) {
    const unsigned char *keys = (const unsigned char *)first_key;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(const void *)(keys + middle * stride) < limit) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The same for an array of 32-bit keys. The limit has 64 bits, so that it can lie above all keys.
 */
static inline uint32_t search_below32(const uint32_t *keys, uint32_t count, uint64_t limit) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < limit) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The same for keys that are not plain integers in an array: the number of items that `is_below`
 * returns true for, which must be the first ones. Where the function is known, the compiler inlines
 * it. */
static inline size_t search_first(bool (*is_below)(const void *context, size_t i),
                                  const void *context, size_t count) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_below(context, middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}

#endif
