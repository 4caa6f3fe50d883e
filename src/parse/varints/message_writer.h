/* Encodes protobuf messages into a growing, reusable buffer. Callers reserve room first; writing
 * then cannot fail. */
#ifndef RECMAP_PARSE_VARINTS_MESSAGE_WRITER_H
#define RECMAP_PARSE_VARINTS_MESSAGE_WRITER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/bytes.h"

/* Zero-initialized, a writer is empty. */
struct message_writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Reserves room for `size` more bytes. Returns false if memory runs out; the writer is then
 * unchanged. */
bool message_reserve(struct message_writer *writer, size_t size);
void message_deinit(struct message_writer *writer);

/* The encoded size of a varint, 1 to 10 bytes. */
static inline size_t varint_size(uint64_t value) {
    return (bit_length(value | 1) + 6) / 7;
}

/* The encoded size of a length-delimited field with a number below 16: tag, length and contents. */
static inline uint64_t field_size(uint64_t size) {
    return 1 + varint_size(size) + size;
}

/* The functions below write into reserved room. */
static inline void message_put_varint(struct message_writer *writer, uint64_t value) {
    uint8_t *cursor = writer->data + writer->size;
    for (; value > 0x7f; value >>= 7) *cursor++ = (uint8_t)(value | 0x80);
    *cursor++ = (uint8_t)value;
    writer->size = (size_t)(cursor - writer->data);
    assert(writer->size <= writer->capacity);
}

static inline void message_put_bytes(struct message_writer *writer, const void *data, size_t size) {
    assert(size <= writer->capacity - writer->size);
    if (size) memcpy(writer->data + writer->size, data, size);
    writer->size += size;
}

/* Writes a tag (below 128) and the length of the contents that follow. */
static inline void message_put_prefix(struct message_writer *writer, uint8_t tag, uint64_t size) {
    writer->data[writer->size++] = tag;
    message_put_varint(writer, size);
}

#endif
