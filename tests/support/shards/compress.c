#include "support/shards/compress.h"

static void add_big_endian(struct buffer *buffer, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) buffer_add_byte(buffer, (uint8_t)(value >> shift));
}

static void add_little_endian(struct buffer *buffer, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) buffer_add_byte(buffer, (uint8_t)(value >> 8 * i));
}

/* Stored blocks of RFC 1951: the last one is marked. */
static void add_blocks(struct buffer *buffer, const uint8_t *bytes, size_t size) {
    do {
        uint32_t here = size < 0xffff ? (uint32_t)size : 0xffff;
        buffer_add_byte(buffer, here == size);
        add_little_endian(buffer, here, 2);
        add_little_endian(buffer, ~here, 2);
        buffer_add(buffer, bytes, here);
        bytes += here;
        size -= here;
    } while (size);
}

static uint32_t crc32_of(const uint8_t *bytes, size_t size) {
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static uint32_t adler32_of(const uint8_t *bytes, size_t size) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void compress_gzip(struct buffer *buffer, const uint8_t *bytes, size_t size) {
    static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    buffer_add(buffer, header, sizeof header);
    add_blocks(buffer, bytes, size);
    add_little_endian(buffer, crc32_of(bytes, size), 4);
    add_little_endian(buffer, (uint32_t)size, 4);
}

void compress_zlib(struct buffer *buffer, const uint8_t *bytes, size_t size) {
    buffer_add(buffer, "\x78\x9c", 2);
    add_blocks(buffer, bytes, size);
    add_big_endian(buffer, adler32_of(bytes, size));
}
