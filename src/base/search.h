/* Binary search. */
#ifndef RECMAP_BASE_SEARCH_H
#define RECMAP_BASE_SEARCH_H

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

#endif
