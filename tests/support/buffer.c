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

static void reserve(buffer *to, size_t more) {
    if (to->size + more <= to->capacity) return;
    to->capacity = (to->size + more) * 2;
    to->data = must_realloc(to->data, to->capacity);
}

void buffer_add(buffer *to, const void *data, size_t size) {
    reserve(to, size);
    if (size) memcpy(to->data + to->size, data, size);
    to->size += size;
}

void buffer_add_byte(buffer *to, uint8_t byte) {
    buffer_add(to, &byte, 1);
}

void buffer_add_random(buffer *to, size_t size, rng *random) {
    reserve(to, size);
    for (size_t i = 0; i < size; i++) to->data[to->size++] = (uint8_t)rng_next(random);
}

void buffer_insert(buffer *to, size_t at, const void *data, size_t size) {
    reserve(to, size);
    if (to->size > at) memmove(to->data + at + size, to->data + at, to->size - at);
    if (size) memcpy(to->data + at, data, size);
    to->size += size;
}

void buffer_remove(buffer *from, size_t at, size_t size) {
    if (from->size > at + size)
        memmove(from->data + at, from->data + at + size, from->size - at - size);
    from->size -= size;
}

void buffer_free(buffer *freed) {
    free(freed->data);
    *freed = (buffer)BUFFER_INIT;
}
