/* A growing buffer with Arrow's alignment of 64 bytes. The memory extends past the capacity, so
 * that wide stores may overrun the end of their values. */
#ifndef RECMAP_PARSE_PLAN_BUFFER_H
#define RECMAP_PARSE_PLAN_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/columns.h>

/* BUFFER_SLACK: bytes past the capacity that may be overwritten and are never read as values. */
enum { BUFFER_ALIGNMENT = 64, BUFFER_SLACK = 128 };

/* Zero-initialized, a buffer is empty. The caller keeps track of the size used. */
struct buffer {
    uint8_t *data; /* NULL until memory is reserved */
    size_t capacity;
    const recmap_allocator *allocator; /* NULL: the C library's */
    size_t released_capacity;          /* the capacity before buffer_release */
};

/* Ensures a capacity of at least `size` bytes (plus BUFFER_SLACK) and keeps the first `used` bytes.
 * The capacity at least doubles when it grows; after buffer_release, it is at least what it was.
 * Returns false if memory runs out; the buffer is then unchanged. */
bool buffer_reserve(struct buffer *buffer, size_t used, size_t size);
/* Releases the memory. The buffer keeps its allocator, and can be used again. */
void buffer_release(struct buffer *buffer);

/* The contents as offsets and as unsigned numbers. */
static inline int64_t *buffer_int64(const struct buffer *buffer) {
    return (int64_t *)(void *)buffer->data;
}

static inline uint64_t *buffer_uint64(const struct buffer *buffer) {
    return (uint64_t *)(void *)buffer->data;
}

#endif
