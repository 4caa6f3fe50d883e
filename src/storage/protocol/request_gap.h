/* How many bytes that nobody needs may be downloaded to save a request. Pure.
 *
 * A request of n bytes takes about `latency + n / rate` seconds. Two records that share a request
 * save one latency and cost the gap between them, so sharing pays while the gap is shorter than
 * latency * rate. Both are those of single requests under the present load: if requests in flight
 * share a line that is full, the rate of each falls, and so does the gap.
 *
 * Latency and rate are measured by comparing short requests with long ones: the recent samples are
 * sorted by size, and the line through the medians of the shortest third and of the longest third
 * is taken (Tukey's resistant line). Outliers, such as requests that waited for a connection, do
 * not move a median. */
#ifndef RECMAP_STORAGE_PROTOCOL_REQUEST_GAP_H
#define RECMAP_STORAGE_PROTOCOL_REQUEST_GAP_H

#include <stddef.h>
#include <stdint.h>

enum {
    GAP_DEFAULT = 256 << 10, /* until it is measured */
    GAP_MIN = 4 << 10,
    /* More would save time at stores that are far away and fast, but multiply what a shuffled
     * epoch of small records downloads, which may cost money. */
    GAP_MEASURED_MAX = 1 << 20,
    GAP_SAMPLES = 96,
    GAP_INTERVAL = 32, /* samples from one measurement to the next */
};

/* A request that was answered at the first attempt. */
struct gap_sample {
    uint64_t size;
    uint64_t ns; /* until its last byte */
};

struct request_gap {
    struct gap_sample samples[GAP_SAMPLES]; /* the last ones, as a ring */
    uint64_t sample_count;                  /* since the start */
    uint64_t size;                          /* the gap, in bytes */
};

void request_gap_init(struct request_gap *gap);

/* Adds a sample. Every GAP_INTERVAL samples, the gap moves halfway to what the last GAP_SAMPLES
 * say. It stays where it is while their sizes are too much alike to tell latency from rate. */
void request_gap_add(struct request_gap *gap, uint64_t size, uint64_t ns);

#endif
