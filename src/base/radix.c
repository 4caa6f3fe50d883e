#include "base/radix.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void sort_by_digit(struct radix_item *destination, const struct radix_item *items,
                          size_t count, unsigned shift, uint64_t mask) {
    size_t starts[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++) starts[items[i].key >> shift & mask]++;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t group_size = starts[i];
        starts[i] = sum;
        sum += group_size;
    }
    for (size_t i = 0; i < count; i++)
        destination[starts[items[i].key >> shift & mask]++] = items[i];
}

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *scratch, size_t count,
                              unsigned first_bit, unsigned end_bit) {
    unsigned width = end_bit - first_bit, passes = (width + DIGIT_BITS - 1) / DIGIT_BITS;
    /* Digits of equal size: fewer groups cause fewer cache misses. */
    unsigned digit_bits = passes ? (width + passes - 1) / passes : 0;
    for (unsigned shift = first_bit; shift < end_bit; shift += digit_bits) {
        unsigned left = end_bit - shift, bits = left < digit_bits ? left : digit_bits;
        sort_by_digit(scratch, items, count, shift, ((uint64_t)1 << bits) - 1);
        struct radix_item *destination = scratch;
        scratch = items;
        items = destination;
    }
    return items;
}
