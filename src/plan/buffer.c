#include "plan/buffer.h"

#include <stdlib.h>
#include <string.h>

bool buffer_reserve(struct buffer *grown, size_t used, size_t size) {
    if (size <= grown->capacity && grown->data) return true;
    size_t capacity = grown->capacity > SIZE_MAX / 4 ? size : grown->capacity * 2;
    if (capacity < size) capacity = size;
    if (capacity > SIZE_MAX / 2) return false;
    capacity = (capacity + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    void *moved = NULL;
    if (posix_memalign(&moved, BUFFER_ALIGNMENT, capacity + BUFFER_SLACK) != 0) return false;
    if (used) memcpy(moved, grown->data, used);
    free(grown->data);
    grown->data = moved;
    grown->capacity = capacity;
    return true;
}

void buffer_release(struct buffer *freed) {
    free(freed->data);
    *freed = (struct buffer){0};
}
