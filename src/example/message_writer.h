/* Writing the protobuf wire into a piece of memory that grows and is used again. Room is made
 * first; putting bytes into it then cannot fail. */
#ifndef RECMAP_EXAMPLE_MESSAGE_WRITER_H
#define RECMAP_EXAMPLE_MESSAGE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* All zeros is an empty one. */
struct message_writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Makes room for `size` bytes more. False when memory is out; the writer is as it was then. */
bool message_reserve(struct message_writer *writer, size_t size);
void message_free(struct message_writer *writer);

/* Bytes of a varint: 1 to 10. */
static inline size_t varint_size(uint64_t value) {
    return (bit_length(value | 1) + 6) / 7;
}

/* Bytes of a field of the lowest numbers that holds so many bytes: tag, length and they. */
static inline uint64_t field_size(uint64_t size) {
    return 1 + varint_size(size) + size;
}

/* All of these write into room that was made. */
static inline void message_put_varint(struct message_writer *writer, uint64_t value) {
    uint8_t *at = writer->data + writer->size;
    for (; value > 0x7f; value >>= 7) *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    writer->size = (size_t)(at - writer->data);
}

static inline void message_put_bytes(struct message_writer *writer, const void *data, size_t size) {
    if (size) memcpy(writer->data + writer->size, data, size);
    writer->size += size;
}

/* Tag (below 128) and length of a field whose bytes follow. */
static inline void message_put_head(struct message_writer *writer, uint8_t tag, uint64_t size) {
    writer->data[writer->size++] = tag;
    message_put_varint(writer, size);
}

#endif
