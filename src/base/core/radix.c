#include "base/core/radix.h"

#include "base/core/bytes.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, INSERTION_MAX = 48 };

/* Digits of equal size: fewer groups cause fewer cache misses. */
static unsigned digit_bits_of(unsigned width) {
    unsigned passes = (width + DIGIT_BITS - 1) / DIGIT_BITS;
    return passes ? (width + passes - 1) / passes : 0;
}

/* Replaces the sizes of groups by the indexes at which the groups start. */
static void sum_up(size_t sizes[DIGITS]) {
    size_t sum = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t size = sizes[i];
        sizes[i] = sum;
        sum += size;
    }
}

static void sort_by_digit(struct radix_item *destination, const struct radix_item *items,
                          size_t count, unsigned shift, uint64_t mask) {
    size_t starts[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) starts[items[i].key >> shift & mask]++;
    sum_up(starts);
    for (size_t i = 0; i < count; i++)
        destination[starts[items[i].key >> shift & mask]++] = items[i];
}

struct radix_item *radix_sort(struct radix_item *items, struct radix_item *scratch, size_t count,
                              unsigned first_bit, unsigned end_bit) {
    unsigned digit_bits = digit_bits_of(end_bit - first_bit);
    for (unsigned shift = first_bit; shift < end_bit; shift += digit_bits) {
        uint64_t bits = min_u64(end_bit - shift, digit_bits);
        sort_by_digit(scratch, items, count, shift, ((uint64_t)1 << bits) - 1);
        struct radix_item *destination = scratch;
        scratch = items;
        items = destination;
    }
    return items;
}

static void sort_words_by_digit(uint64_t *destination, const uint64_t *words, size_t count,
                                unsigned shift, uint64_t mask) {
    size_t starts[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) starts[words[i] >> shift & mask]++;
    sum_up(starts);
    for (size_t i = 0; i < count; i++) destination[starts[words[i] >> shift & mask]++] = words[i];
}

/* Few words are sorted sooner than a table of digits is cleared. */
static void insert_words(uint64_t *words, size_t count, unsigned first_bit, uint64_t mask) {
    for (size_t i = 1; i < count; i++) {
        uint64_t word = words[i], key = word >> first_bit & mask;
        size_t place = i;
        for (; place && (words[place - 1] >> first_bit & mask) > key; place--)
            words[place] = words[place - 1];
        words[place] = word;
    }
}

uint64_t *radix_sort_words(uint64_t *words, uint64_t *scratch, size_t count, unsigned first_bit,
                           unsigned end_bit) {
    if (count <= INSERTION_MAX && first_bit < end_bit) {
        insert_words(words, count, first_bit, UINT64_MAX >> (64 - (end_bit - first_bit)));
        return words;
    }
    unsigned digit_bits = digit_bits_of(end_bit - first_bit);
    for (unsigned shift = first_bit; shift < end_bit; shift += digit_bits) {
        uint64_t bits = min_u64(end_bit - shift, digit_bits);
        sort_words_by_digit(scratch, words, count, shift, ((uint64_t)1 << bits) - 1);
        uint64_t *destination = scratch;
        scratch = words;
        words = destination;
    }
    return words;
}
