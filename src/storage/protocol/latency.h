/* The latency of recent requests: a histogram, and its percentiles. Pure. */
#ifndef RECMAP_STORAGE_PROTOCOL_LATENCY_H
#define RECMAP_STORAGE_PROTOCOL_LATENCY_H

#include <stdint.h>

/* Eight buckets for each doubling, so a percentile is at most an eighth too long. */
enum { LATENCY_BUCKET_COUNT = 512, LATENCY_COUNT_MAX = 8192 };

/* A zeroed one is empty. */
struct latency {
    uint32_t buckets[LATENCY_BUCKET_COUNT];
    uint32_t count;
};

/* Adds a request. After every LATENCY_COUNT_MAX requests, what was added before counts half, so
 * that the percentiles follow a store that has become slower or faster. */
void latency_add(struct latency *latency, uint64_t ns);

/* Adds what another histogram has. */
void latency_merge(struct latency *latency, const struct latency *other);

/* The time within which `percent` of the requests were answered, rounded up to the end of a
 * bucket; 0 if there are none. `percent` is 1 to 100. */
uint64_t latency_percentile(const struct latency *latency, unsigned percent);

#endif
