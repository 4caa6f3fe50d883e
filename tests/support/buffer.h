/* Bytes that grow. Without memory the test program aborts. */
#ifndef RECMAP_TESTS_SUPPORT_BUFFER_H
#define RECMAP_TESTS_SUPPORT_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "support/random.h"

struct buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

#define BUFFER_INIT                                                                                \
    { NULL, 0, 0 }

/* malloc and realloc that abort instead of failing. */
void *must_realloc(void *memory, size_t size);
void *must_copy(const void *data, size_t size);

void buffer_add(struct buffer *buffer, const void *data, size_t size);
void buffer_add_byte(struct buffer *buffer, uint8_t byte);
void buffer_add_random(struct buffer *buffer, size_t size, struct rng *random);
void buffer_insert(struct buffer *buffer, size_t position, const void *data, size_t size);
void buffer_remove(struct buffer *buffer, size_t position, size_t size);
void buffer_deinit(struct buffer *buffer);

#endif
