#include "parse/export/arrow_views.h"

#include <string.h>

enum { INLINE_SIZE = 12, VIEW_PREFIX_SIZE = 4, FIXED_BUFFERS = 2 };

union binary_view {
    struct {
        int32_t size;
        uint8_t bytes[INLINE_SIZE];
    } small;
    struct {
        int32_t size;
        uint8_t prefix[VIEW_PREFIX_SIZE];
        int32_t buffer;
        int32_t offset;
    } large;
};

/* The memory range from the first long view to the last; `begin` is NULL if there is none. */
struct extent {
    const uint8_t *begin, *end;
};

static struct extent measure(const recmap_bytes *views, uint64_t count) {
    struct extent extent = {0};
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *begin = views[i].data, *end = begin + views[i].size;
        if (views[i].size <= INLINE_SIZE) continue;
        if (!extent.begin || (uintptr_t)begin < (uintptr_t)extent.begin) extent.begin = begin;
        if (!extent.end || (uintptr_t)end > (uintptr_t)extent.end) extent.end = end;
    }
    return extent;
}

static void write_view(union binary_view *out, const recmap_bytes *view,
                       const struct extent *extent, int32_t buffer) {
    *out = (union binary_view){.small = {.size = (int32_t)view->size}};
    if (view->size <= INLINE_SIZE) {
        if (view->size) memcpy(out->small.bytes, view->data, view->size);
        return;
    }
    memcpy(out->large.prefix, view->data, VIEW_PREFIX_SIZE);
    out->large.buffer = buffer;
    out->large.offset = (int32_t)(view->data - extent->begin);
}

uint64_t arrow_view_alone(const void *context, uint64_t row) {
    (void)context;
    return row + 1;
}

static size_t count_buffers(const recmap_bytes *views, uint64_t row_count, arrow_row_end *row_end,
                            const void *context) {
    size_t count = 0;
    uint64_t at = 0;
    for (uint64_t row = 0; row < row_count; row++) {
        uint64_t end = row_end(context, row);
        count += measure(views + at, end - at).begin != NULL;
        at = end;
    }
    return count;
}

/* Two passes over the rows: the first counts the buffers, since a node's buffers are allocated at
 * once; the second fills in buffers and views. */
bool arrow_views_init(struct arrow_node *node, struct arrow_box *box, const recmap_bytes *views,
                      uint64_t count, uint64_t row_count, arrow_row_end *row_end,
                      const void *context) {
    size_t buffer_count = count_buffers(views, row_count, row_end, context), used = 0;
    union binary_view *out = arena_allocate_zeros(&box->memory, count, sizeof *out);
    int64_t *sizes = arena_allocate_zeros(&box->memory, buffer_count, sizeof *sizes);
    if (!out || !sizes || !arrow_node_add_buffers(node, box, FIXED_BUFFERS + buffer_count + 1))
        return false;
    uint64_t at = 0;
    for (uint64_t row = 0; row < row_count; row++) {
        uint64_t end = row_end(context, row);
        struct extent in = measure(views + at, end - at);
        for (; at < end; at++) write_view(&out[at], &views[at], &in, (int32_t)used);
        if (!in.begin) continue;
        node->buffers[FIXED_BUFFERS + used] = in.begin;
        sizes[used++] = in.end - in.begin;
    }
    node->buffers[1] = out;
    node->buffers[FIXED_BUFFERS + buffer_count] = sizes;
    return true;
}
