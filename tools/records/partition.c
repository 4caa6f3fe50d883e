#include "records/partition.h"

#include <math.h>
#include <string.h>

#include <recmap/dataset.h>

/* An exact sum of doubles from 0 to 2: a fixed-point number with 64 bits before the point. The
 * smallest bit of a double is 2^-1074. */
enum { FRACTION_WORDS = 17, WORDS = FRACTION_WORDS + 1 };

struct exact_sum {
    uint64_t words[WORDS]; /* the lowest first */
};

static void add_word(struct exact_sum *sum, size_t word, uint64_t value) {
    for (; value && word < WORDS; word++) {
        sum->words[word] += value;
        value = sum->words[word] < value;
    }
}

static void add(struct exact_sum *sum, double value) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
    if (!mantissa) return;
    /* A denormal value has fewer bits: those below 2^-1088 are zeros. */
    int shift = exponent - 53 + 64 * FRACTION_WORDS;
    if (shift < 0) {
        mantissa >>= -shift;
        shift = 0;
    }
    size_t word = (size_t)shift / 64, bit = (size_t)shift % 64;
    add_word(sum, word, mantissa << bit);
    if (bit) add_word(sum, word + 1, mantissa >> (64 - bit));
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The words of the sum above and below the point decide whether it is near 1. */
static bool is_one(const struct exact_sum *sum) {
    double value = (double)sum->words[FRACTION_WORDS] +
                   (double)sum->words[FRACTION_WORDS - 1] * 0x1p-64;
    return fabs(value - 1) <= 1e-9;
}

bool partition_init(struct partition *partition, uint64_t *limits, const double *shares,
                    size_t part_count, uint64_t seed) {
    struct exact_sum sum;
    memset(&sum, 0, sizeof sum);
    *partition = (struct partition){
        .key = mix(seed + 0x9e3779b97f4a7c15), .limits = limits, .part_count = part_count};
    for (size_t i = 0; i < part_count; i++) {
        add(&sum, shares[i]);
        limits[i] = sum.words[FRACTION_WORDS] ? UINT64_MAX : sum.words[FRACTION_WORDS - 1];
    }
    return is_one(&sum);
}

/* A limit of 2^64 does not fit a word. It only occurs where the shares reach 1: for the last part,
 * and for earlier ones before parts of share 0, which receive nothing but the word 2^64 - 1. */
size_t partition_part(const struct partition *partition, uint64_t number, uint64_t id_hash) {
    uint64_t hash = id_hash == RECMAP_NO_ID_HASH ? number | (uint64_t)1 << 63 : id_hash;
    uint64_t word = mix(hash ^ partition->key);
    size_t part = 0;
    while (part + 1 < partition->part_count && word >= partition->limits[part]) part++;
    return part;
}
