#include "support/shards/oracle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static uint32_t table[256];

static void fill_table(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        table[i] = crc;
    }
}

uint32_t oracle_masked_crc(const void *data, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_table);
    const uint8_t *cursor = data;
    uint32_t crc = 0xffffffffu;
    while (size--) crc = crc >> 8 ^ table[(crc ^ *cursor++) & 0xff];
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void add_number(struct buffer *buffer, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) buffer_add_byte(buffer, (uint8_t)(value >> 8 * i));
}

static uint64_t number_at(const uint8_t *position, int bytes) {
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | position[i];
    return value;
}

void oracle_add_header(struct buffer *buffer, uint64_t length) {
    add_number(buffer, length, 8);
    add_number(buffer, oracle_masked_crc(buffer->data + buffer->size - 8, 8), 4);
}

void oracle_add_record(struct buffer *buffer, const void *data, size_t size) {
    oracle_add_header(buffer, size);
    buffer_add(buffer, data, size);
    add_number(buffer, oracle_masked_crc(data, size), 4);
}

static bool has_header(const uint8_t *bytes, size_t size, size_t begin) {
    return size - begin >= 12 &&
           number_at(bytes + begin + 8, 4) == oracle_masked_crc(bytes + begin, 8);
}

/* A good length is one whose CRC holds and whose record ends within the file. */
static bool has_length(const uint8_t *bytes, size_t size, size_t begin) {
    return has_header(bytes, size, begin) && size - begin >= 16 &&
           number_at(bytes + begin, 8) <= size - begin - 16;
}

static bool has_record(const uint8_t *bytes, size_t size, size_t begin) {
    if (!has_length(bytes, size, begin)) return false;
    size_t length = (size_t)number_at(bytes + begin, 8);
    return number_at(bytes + begin + 12 + length, 4) ==
           oracle_masked_crc(bytes + begin + 12, length);
}

static void note_record(struct oracle_file *file, const uint8_t *bytes, size_t begin) {
    uint64_t length = number_at(bytes + begin, 8);
    if (!(file->record_count & (file->record_count + 1)))
        file->records =
            must_realloc(file->records, (file->record_count * 2 + 2) * sizeof *file->records);
    file->records[file->record_count++] =
        (struct oracle_record){begin, length, (uint32_t)number_at(bytes + begin + 12 + length, 4)};
}

static void note_damage(struct oracle_file *file, size_t begin, size_t length) {
    if (!(file->damage_count & (file->damage_count + 1)))
        file->damages =
            must_realloc(file->damages, (file->damage_count * 2 + 2) * sizeof *file->damages);
    file->damages[file->damage_count++] = (struct oracle_damage){begin, length};
}

/* Where reading continues after damage at `at`. */
static size_t after_damage(const uint8_t *bytes, size_t size, size_t begin) {
    if (has_length(bytes, size, begin)) {
        size_t next = begin + 16 + (size_t)number_at(bytes + begin, 8);
        if (next == size || has_header(bytes, size, next)) return next;
    }
    size_t next = begin + 1;
    while (next < size && !has_record(bytes, size, next)) next++;
    return next;
}

struct oracle_file oracle_read(const uint8_t *bytes, size_t size, bool stops) {
    struct oracle_file file = {NULL, 0, NULL, 0};
    for (size_t at = 0; at < size;) {
        if (has_record(bytes, size, at)) {
            note_record(&file, bytes, at);
            at += 16 + (size_t)number_at(bytes + at, 8);
            continue;
        }
        size_t next = stops ? size : after_damage(bytes, size, at);
        note_damage(&file, at, stops ? 0 : next - at);
        at = next;
    }
    return file;
}

void oracle_deinit(struct oracle_file *file) {
    free(file->records);
    free(file->damages);
    *file = (struct oracle_file){NULL, 0, NULL, 0};
}
