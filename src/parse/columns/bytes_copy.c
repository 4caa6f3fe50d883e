#include "parse/columns/bytes_copy.h"

#include <stdbool.h>
#include <string.h>

#include "base/core/search.h"
#include "parse/columns/bulk_copy.h"

/* bulk_copy in pieces. Returns false if it was interrupted. */
static bool copy_bulk(struct interrupt *interrupt, uint8_t *out, const uint8_t *bytes,
                      size_t size) {
    while (size) {
        size_t piece = size < INTERRUPT_COPY_SIZE ? size : INTERRUPT_COPY_SIZE;
        bulk_copy(out, bytes, piece);
        if (!interrupt_continues(interrupt, piece)) return false;
        out += piece;
        bytes += piece;
        size -= piece;
    }
    return true;
}

static bool copy_range(const struct bytes_copy *copy, uint64_t first, uint64_t end,
                       struct interrupt *interrupt) {
    if (first == end) return true;
    uint64_t total = (uint64_t)(copy->offsets[end] - copy->offsets[first]);
    bool is_bulk = total >= BULK_COPY_MIN && total / (end - first) >= BULK_COPY_VALUE;
    bool continues = true;
    for (uint64_t i = first; continues && i < end; i++) {
        uint8_t *out = copy->out + copy->offsets[i];
        const recmap_bytes *view = &copy->views[i];
        continues = is_bulk ? copy_bulk(interrupt, out, view->data, view->size)
                            : interrupt_copy(interrupt, out, view->data, view->size);
    }
    if (is_bulk) bulk_copy_end();
    return continues;
}

bool bytes_copy_do(const struct bytes_copy *copy, struct interrupt *interrupt) {
    return copy_range(copy, 0, copy->count, interrupt);
}

/* The first value that belongs to the share or a later one: the one whose bytes start there. */
static uint64_t share_begin(const struct bytes_copy *copy, size_t share, size_t share_count) {
    uint64_t begin = bytes_copy_size(copy) / share_count * share;
    if (share == share_count) return copy->count;
    /* No offset is negative, so they ascend as unsigned numbers too. */
    return search_below((const uint64_t *)copy->offsets, sizeof *copy->offsets, copy->count, begin);
}

bool bytes_copy_do_share(const struct bytes_copy *copy, size_t share, size_t share_count,
                         struct interrupt *interrupt) {
    return copy_range(copy, share_begin(copy, share, share_count),
                      share_begin(copy, share + 1, share_count), interrupt);
}
