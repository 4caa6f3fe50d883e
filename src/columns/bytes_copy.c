#include "columns/bytes_copy.h"

#include <stdbool.h>
#include <string.h>

#include "base/search.h"
#include "columns/bulk_copy.h"

static void copy_range(const struct bytes_copy *copy, uint64_t first, uint64_t end) {
    if (first == end) return;
    uint64_t total = (uint64_t)(copy->offsets[end] - copy->offsets[first]);
    bool is_bulk = total >= BULK_COPY_MIN && total / (end - first) >= BULK_COPY_VALUE;
    for (uint64_t i = first; i < end; i++) {
        uint8_t *out = copy->out + copy->offsets[i];
        if (is_bulk) bulk_copy(out, copy->views[i].data, copy->views[i].size);
        else memcpy(out, copy->views[i].data, copy->views[i].size);
    }
    if (is_bulk) bulk_copy_end();
}

void bytes_copy_do(const struct bytes_copy *copy) {
    copy_range(copy, 0, copy->count);
}

/* The first value that belongs to the share or a later one: the one whose bytes start there. */
static uint64_t share_begin(const struct bytes_copy *copy, size_t share, size_t share_count) {
    uint64_t begin = bytes_copy_size(copy) / share_count * share;
    if (share == share_count) return copy->count;
    /* No offset is negative, so they ascend as unsigned numbers too. */
    return search_below((const uint64_t *)copy->offsets, sizeof *copy->offsets, copy->count, begin);
}

void bytes_copy_do_share(const struct bytes_copy *copy, size_t share, size_t share_count) {
    copy_range(copy, share_begin(copy, share, share_count),
               share_begin(copy, share + 1, share_count));
}
