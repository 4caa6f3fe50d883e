#include "example.h"

#include <string.h>

#include "base/core/bytes.h"

/* Room before the features for the tag and length around them. */
enum { HEAD_ROOM = 16, BYTES_LIST = 1, FLOAT_LIST = 2, INT64_LIST = 3 };

static size_t varint_size(uint64_t value) {
    size_t size = 1;
    while (value >>= 7) size++;
    return size;
}

static uint8_t *put_varint(uint8_t *position, uint64_t value) {
    for (; value > 127; value >>= 7) *position++ = (uint8_t)(value | 128);
    *position++ = (uint8_t)value;
    return position;
}

/* A field that holds bytes: its tag and length. */
static uint8_t *put_head(uint8_t *position, unsigned field, size_t size) {
    *position++ = (uint8_t)(field << 3 | 2);
    return put_varint(position, size);
}

static size_t field_size(size_t size) {
    return 1 + varint_size(size) + size;
}

/* Writes an entry except for the `size` bytes of its values, which are one field of the list. */
static uint8_t *put_entry(struct example *example, const char *name, unsigned list, size_t size) {
    size_t name_size = strlen(name), list_size = field_size(size);
    size_t feature_size = field_size(list_size);
    uint8_t *bytes = example->bytes + example->end;
    bytes = put_head(bytes, 1, field_size(name_size) + field_size(feature_size));
    bytes = put_head(bytes, 1, name_size);
    memcpy(bytes, name, name_size);
    bytes = put_head(bytes + name_size, 2, feature_size);
    bytes = put_head(bytes, list, list_size);
    bytes = put_head(bytes, 1, size);
    example->end = (size_t)(bytes - example->bytes) + size;
    return bytes;
}

void example_begin(struct example *example) {
    example->start = example->end = HEAD_ROOM;
}

void example_add_bytes(struct example *example, const char *name, const void *data, size_t size) {
    memcpy(put_entry(example, name, BYTES_LIST, size), data, size);
}

void example_add_int64(struct example *example, const char *name, const uint64_t *values,
                       size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += varint_size(values[i]);
    uint8_t *bytes = put_entry(example, name, INT64_LIST, size);
    for (size_t i = 0; i < count; i++) bytes = put_varint(bytes, values[i]);
}

void example_add_float(struct example *example, const char *name, const float *values,
                       size_t count) {
    uint8_t *bytes = put_entry(example, name, FLOAT_LIST, 4 * count);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store32(bytes + 4 * i, bits);
    }
}

void example_end(struct example *example) {
    size_t size = example->end - example->start;
    example->start -= 1 + varint_size(size);
    put_head(example->bytes + example->start, 1, size);
}
