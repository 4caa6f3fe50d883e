#include "storage/protocol/request_gap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THIRD = GAP_SAMPLES / 3, SPREAD_MIN = 64 << 10 };

void request_gap_init(struct request_gap *gap) {
    *gap = (struct request_gap){.size = GAP_DEFAULT};
}

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_sizes(const void *a, const void *b) {
    return compare_u64(((const struct gap_sample *)a)->size, ((const struct gap_sample *)b)->size);
}

static int compare_times(const void *a, const void *b) {
    return compare_u64(((const struct gap_sample *)a)->ns, ((const struct gap_sample *)b)->ns);
}

/* The medians of the sizes and of the times of a third, which is sorted by size. */
static struct gap_sample median_of(struct gap_sample *third) {
    struct gap_sample median = {.size = third[THIRD / 2].size};
    qsort(third, THIRD, sizeof *third, compare_times);
    median.ns = third[THIRD / 2].ns;
    return median;
}

/* Computes latency * rate of the line through two samples:
 *     rate = (long.size - short.size) / (long.ns - short.ns)
 *     latency = short.ns - short.size / rate
 * Long requests that take no longer than short ones mean that bytes cost nothing. */
static uint64_t gap_of(const struct gap_sample *shorter, const struct gap_sample *longer) {
    if (longer->ns <= shorter->ns) return GAP_MEASURED_MAX;
    double rate = (double)(longer->size - shorter->size) / (double)(longer->ns - shorter->ns);
    double size = (double)shorter->ns * rate - (double)shorter->size;
    if (size < GAP_MIN) return GAP_MIN;
    return size > GAP_MEASURED_MAX ? GAP_MEASURED_MAX : (uint64_t)size;
}

static void measure(struct request_gap *gap) {
    struct gap_sample sorted[GAP_SAMPLES];
    memcpy(sorted, gap->samples, sizeof sorted);
    qsort(sorted, GAP_SAMPLES, sizeof *sorted, compare_sizes);
    struct gap_sample shorter = median_of(sorted), longer = median_of(sorted + 2 * THIRD);
    if (longer.size - shorter.size < SPREAD_MIN) return;
    gap->size = (gap->size + gap_of(&shorter, &longer)) / 2;
}

void request_gap_add(struct request_gap *gap, uint64_t size, uint64_t ns) {
    gap->samples[gap->sample_count++ % GAP_SAMPLES] = (struct gap_sample){size, ns};
    if (gap->sample_count >= GAP_SAMPLES && gap->sample_count % GAP_INTERVAL == 0) measure(gap);
}
