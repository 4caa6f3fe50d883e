/* A growing piece of memory in Arrow's manner: 64-byte aligned, and never full to the last byte, so
 * that wide stores may run over the end of what they mean to write. */
#ifndef RECMAP_PLAN_BUFFER_H
#define RECMAP_PLAN_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes behind the capacity that anybody may write to, and nobody reads as values. */
enum { BUFFER_ALIGNMENT = 64, BUFFER_SLACK = 128 };

/* All zeros is an empty buffer. How much of it is used is its user's business. */
struct buffer {
    uint8_t *data; /* NULL as long as nothing was reserved */
    size_t capacity;
};

/* Makes room for `size` bytes, and BUFFER_SLACK more, at least doubling, keeping the first `used`
 * bytes. False when memory is out; the buffer is as it was then. */
bool buffer_reserve(struct buffer *buffer, size_t used, size_t size);
void buffer_release(struct buffer *buffer);

/* What it holds as offsets, and as numbers that are no offsets. */
static inline int64_t *buffer_int64(const struct buffer *b) {
    return (int64_t *)(void *)b->data;
}

static inline uint64_t *buffer_uint64(const struct buffer *b) {
    return (uint64_t *)(void *)b->data;
}

#endif
