#include "parse/plan/buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *allocate(const recmap_allocator *allocator, size_t size) {
    void *data = NULL;
    if (allocator) return allocator->allocate(size, allocator->context);
    return posix_memalign(&data, BUFFER_ALIGNMENT, size) == 0 ? data : NULL;
}

static void release(struct buffer *buffer) {
    const recmap_allocator *allocator = buffer->allocator;
    if (!allocator) free(buffer->data);
    else if (buffer->data)
        allocator->release(buffer->data, buffer->capacity + BUFFER_SLACK, allocator->context);
}

/* From this capacity on, the C library keeps a buffer in a mapping of its own, and realloc moves
 * the mapping: some milliseconds for a GiB. A copy would take a second or two, during which the
 * call that fills the buffer could not be interrupted. */
enum { MOVED_SIZE_MIN = 64 << 20 };

/* Grows a large buffer. Returns false if it has not grown: memory has run out, or, since nothing
 * promises that realloc keeps the alignment, the buffer must be copied after all. */
static bool move_pages(struct buffer *buffer, size_t capacity) {
    uint8_t *moved = realloc(buffer->data, capacity + BUFFER_SLACK);
    if (!moved) return false;
    buffer->data = moved;
    if ((uintptr_t)moved % BUFFER_ALIGNMENT) return false;
    buffer->capacity = capacity;
    return true;
}

bool buffer_reserve(struct buffer *buffer, size_t used, size_t size) {
    assert(used <= buffer->capacity);
    if (size <= buffer->capacity && buffer->data) return true;
    size_t capacity = buffer->capacity > SIZE_MAX / 4 ? size : buffer->capacity * 2;
    if (capacity < size) capacity = size;
    if (capacity < buffer->released_capacity) capacity = buffer->released_capacity;
    if (capacity > SIZE_MAX / 2) return false;
    capacity = (capacity + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    if (used && !buffer->allocator && buffer->capacity >= MOVED_SIZE_MIN &&
        move_pages(buffer, capacity))
        return true;
    uint8_t *moved = allocate(buffer->allocator, capacity + BUFFER_SLACK);
    if (!moved) return false;
    if (used) memcpy(moved, buffer->data, used);
    release(buffer);
    buffer->data = moved;
    buffer->capacity = capacity;
    return true;
}

void buffer_release(struct buffer *buffer) {
    release(buffer);
    if (buffer->capacity) buffer->released_capacity = buffer->capacity;
    buffer->data = NULL;
    buffer->capacity = 0;
}
