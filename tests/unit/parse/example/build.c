#include "unit/parse/example/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_raw(struct message *message, const void *data, size_t size) {
    if (!bytes_fit(message->size, size, sizeof message->data)) abort();
    if (size) memcpy(message->data + message->size, data, size);
    message->size += size;
}

static unsigned hex_digit(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

void put_hex(struct message *message, const char *hex) {
    for (; hex[0] && hex[1]; hex += 2) {
        uint8_t byte = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
        put_raw(message, &byte, 1);
    }
}

void put_varint(struct message *message, uint64_t value) {
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put_raw(message, &byte, 1);
        value >>= 7;
    } while (value);
}

void put_tag(struct message *message, uint32_t field, enum wire_type type) {
    put_varint(message, field << 3 | (uint32_t)type);
}

void put_bytes(struct message *message, uint32_t field, const void *data, size_t size) {
    put_tag(message, field, WIRE_BYTES);
    put_varint(message, size);
    put_raw(message, data, size);
}

void put_sub(struct message *message, uint32_t field, const struct message *sub) {
    put_bytes(message, field, sub->data, sub->size);
}

void put_entry(struct message *features, const char *name, uint32_t kind,
               const struct message *list) {
    struct message feature, entry;
    feature.size = entry.size = 0;
    put_sub(&feature, kind, list);
    put_bytes(&entry, 1, name, strlen(name));
    put_sub(&entry, 2, &feature);
    put_sub(features, 1, &entry);
}

void put_int64s(struct message *features, const char *name, const int64_t *values, size_t count) {
    struct message packed, list;
    packed.size = list.size = 0;
    for (size_t i = 0; i < count; i++) put_varint(&packed, (uint64_t)values[i]);
    put_sub(&list, 1, &packed);
    put_entry(features, name, 3, &list);
}

uint8_t *copy_exact(const void *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    return copy;
}
