#include "plan/buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool buffer_reserve(struct buffer *buffer, size_t used, size_t size) {
    assert(used <= buffer->capacity);
    if (size <= buffer->capacity && buffer->data) return true;
    size_t capacity = buffer->capacity > SIZE_MAX / 4 ? size : buffer->capacity * 2;
    if (capacity < size) capacity = size;
    if (capacity > SIZE_MAX / 2) return false;
    capacity = (capacity + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    void *moved = NULL;
    if (posix_memalign(&moved, BUFFER_ALIGNMENT, capacity + BUFFER_SLACK) != 0) return false;
    if (used) memcpy(moved, buffer->data, used);
    free(buffer->data);
    buffer->data = moved;
    buffer->capacity = capacity;
    return true;
}

void buffer_release(struct buffer *buffer) {
    free(buffer->data);
    *buffer = (struct buffer){0};
}
