#include "support/buffer.h"

#include <stdlib.h>
#include <string.h>

void *must_realloc(void *memory, size_t size) {
    void *moved = realloc(memory, size ? size : 1);
    if (!moved) abort();
    return moved;
}

void *must_copy(const void *data, size_t size) {
    void *copy = must_realloc(NULL, size);
    if (size) memcpy(copy, data, size);
    return copy;
}

static void reserve(struct buffer *buffer, size_t size) {
    if (buffer->size + size <= buffer->capacity) return;
    buffer->capacity = (buffer->size + size) * 2;
    buffer->data = must_realloc(buffer->data, buffer->capacity);
}

void buffer_add(struct buffer *buffer, const void *data, size_t size) {
    reserve(buffer, size);
    if (size) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void buffer_add_byte(struct buffer *buffer, uint8_t byte) {
    buffer_add(buffer, &byte, 1);
}

void buffer_add_random(struct buffer *buffer, size_t size, struct rng *random) {
    reserve(buffer, size);
    for (size_t i = 0; i < size; i++) buffer->data[buffer->size++] = (uint8_t)rng_next(random);
}

void buffer_insert(struct buffer *buffer, size_t position, const void *data, size_t size) {
    reserve(buffer, size);
    if (buffer->size > position)
        memmove(buffer->data + position + size, buffer->data + position, buffer->size - position);
    if (size) memcpy(buffer->data + position, data, size);
    buffer->size += size;
}

void buffer_remove(struct buffer *buffer, size_t position, size_t size) {
    if (buffer->size > position + size)
        memmove(buffer->data + position, buffer->data + position + size,
                buffer->size - position - size);
    buffer->size -= size;
}

void buffer_deinit(struct buffer *out) {
    free(out->data);
    *out = (struct buffer)BUFFER_INIT;
}
