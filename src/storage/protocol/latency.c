#include "storage/protocol/latency.h"

#include <assert.h>
#include <stddef.h>

/* The number of bits after the highest one that choose a bucket. */
enum { FINE_BITS = 3, FINE = 1 << FINE_BITS };

/* Numbers below FINE have a bucket each. Each doubling above has FINE buckets. */
static size_t bucket_of(uint64_t ns) {
    if (ns < FINE) return (size_t)ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - FINE_BITS;
    return shift * FINE + (size_t)(ns >> shift);
}

/* The largest number in a bucket. */
static uint64_t bucket_end(size_t bucket) {
    if (bucket < FINE) return bucket;
    unsigned shift = (unsigned)(bucket / FINE) - 1;
    return ((uint64_t)(bucket % FINE + FINE + 1) << shift) - 1;
}

static void halve(struct latency *latency) {
    latency->count = 0;
    for (size_t i = 0; i < LATENCY_BUCKET_COUNT; i++) latency->count += latency->buckets[i] /= 2;
}

void latency_add(struct latency *latency, uint64_t ns) {
    latency->buckets[bucket_of(ns)]++;
    if (++latency->count >= LATENCY_COUNT_MAX) halve(latency);
}

void latency_merge(struct latency *latency, const struct latency *other) {
    for (size_t i = 0; i < LATENCY_BUCKET_COUNT; i++) latency->buckets[i] += other->buckets[i];
    latency->count += other->count;
}

uint64_t latency_percentile(const struct latency *latency, unsigned percent) {
    assert(percent && percent <= 100);
    uint64_t needed = ((uint64_t)latency->count * percent + 99) / 100, found = 0;
    for (size_t i = 0; needed && i < LATENCY_BUCKET_COUNT; i++)
        if ((found += latency->buckets[i]) >= needed) return bucket_end(i);
    return 0;
}
