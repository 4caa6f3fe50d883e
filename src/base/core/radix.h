/* Radix sorts by integer keys. */
#ifndef RECMAP_BASE_CORE_RADIX_H
#define RECMAP_BASE_CORE_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_item {
    uint64_t key;
    uint64_t value;
};

/* Sorts by the bits [first_bit, end_bit) of the keys, up to 11 at a time. Items that are equal in
 * them keep their order. `scratch` has room for `count` items. Returns the one of the two arrays
 * that has the result. Cost: one pass of two loops over the items for each 11 bits. */
struct radix_item *radix_sort(struct radix_item *items, struct radix_item *scratch, size_t count,
                              unsigned first_bit, unsigned end_bit);

/* The same for integers, which are sorted by some of their own bits. */
uint64_t *radix_sort_words(uint64_t *words, uint64_t *scratch, size_t count, unsigned first_bit,
                           unsigned end_bit);

#endif
