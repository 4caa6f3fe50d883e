#include "dataset/batch/ranges.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "dataset/long_records/record_sums.h"

size_t ranges_count(const struct gather_parts *parts, size_t first_range) {
    size_t count = 0;
    for (size_t r = first_range; r != SIZE_MAX; r = parts->ranges[r].next) count++;
    return count;
}

static struct payload_range widen(const struct payload_range *range, uint64_t size) {
    const uint64_t mask = SUMS_BLOCK_SIZE - 1;
    uint64_t end = min_u64(range->end, size);
    return (struct payload_range){min_u64(range->begin, end) & ~mask,
                                  min_u64((end + mask) & ~mask, size), SIZE_MAX};
}

static int compare(const void *a, const void *b) {
    uint64_t one = ((const struct payload_range *)a)->begin;
    uint64_t other = ((const struct payload_range *)b)->begin;
    return (one > other) - (one < other);
}

size_t ranges_merge(struct payload_range *ranges, const struct gather_parts *parts,
                    size_t first_range, uint64_t size) {
    size_t count = 0, kept = 0;
    for (size_t r = first_range; r != SIZE_MAX; r = parts->ranges[r].next)
        if (parts->ranges[r].begin < parts->ranges[r].end)
            ranges[count++] = widen(&parts->ranges[r], size);
    qsort(ranges, count, sizeof *ranges, compare);
    for (size_t i = 0; i < count; i++) {
        struct payload_range *last = kept ? &ranges[kept - 1] : NULL;
        if (!last || ranges[i].begin > last->end) ranges[kept++] = ranges[i];
        else if (ranges[i].end > last->end) last->end = ranges[i].end;
    }
    return kept;
}
