#include "unit/parse/example/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

#include "base/core/bytes.h"

static uint8_t *read_path(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    uint8_t *data = NULL;
    *size = 0;
    for (size_t capacity = 1 << 16;; capacity *= 2) {
        data = realloc(data, capacity + 1);
        if (!data) abort();
        *size += fread(data + *size, 1, capacity - *size, file);
        if (*size < capacity) break;
    }
    data[*size] = 0;
    fclose(file);
    return data;
}

uint8_t *data_read(const char *name, size_t *size) {
    char path[4096];
    const char *folder = getenv("RECMAP_TEST_DATA");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : RECMAP_SOURCE_DIR "/../shared/data",
             name);
    return read_path(path, size);
}

/* Unpacks into memory that grows until all fits. `format` is one of ISA-L's. */
static uint8_t *inflate_all(size_t *size, const uint8_t *packed, size_t packed_size,
                            unsigned format) {
    for (size_t capacity = packed_size * 8 + 4096;; capacity *= 2) {
        struct inflate_state state;
        uint8_t *out = malloc(capacity);
        if (!out) abort();
        isal_inflate_init(&state);
        state.crc_flag = format;
        state.next_in = (uint8_t *)(uintptr_t)packed;
        state.avail_in = (uint32_t)packed_size;
        state.next_out = out;
        state.avail_out = (uint32_t)capacity;
        int status = isal_inflate(&state);
        if (status != ISAL_DECOMP_OK) abort();
        *size = capacity - state.avail_out;
        if (state.block_state == ISAL_BLOCK_FINISH) return out;
        free(out);
    }
}

/* Takes the bytes; false without any. */
static bool open_bytes(struct record_file *file, uint8_t *bytes, size_t size) {
    if (!bytes) return false;
    bool is_gzip = size > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
    bool is_zlib = size > 2 && bytes[0] == 0x78 && (bytes[0] << 8 | bytes[1]) % 31 == 0;
    *file = (struct record_file){bytes, size, 0};
    if (is_gzip) file->bytes = inflate_all(&file->size, bytes, size, ISAL_GZIP);
    /* Without the Adler-32, which ISA-L 2.30 computes wrongly on aarch64. Records have checksums of
     * their own. */
    else if (is_zlib) file->bytes = inflate_all(&file->size, bytes + 2, size - 2, ISAL_DEFLATE);
    else return true;
    free(bytes);
    return true;
}

bool record_file_open(struct record_file *file, const char *name) {
    size_t size = 0;
    uint8_t *bytes = data_read(name, &size);
    return open_bytes(file, bytes, size);
}

void record_file_open_digits(struct record_file *file, unsigned shard) {
    char path[4096];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/data/digits/digits-%05u-of-00004.tfrecord", RECMAP_SOURCE_DIR,
             shard);
    uint8_t *bytes = read_path(path, &size);
    if (!open_bytes(file, bytes, size)) abort();
}

void record_file_close(struct record_file *file) {
    free(file->bytes);
}

bool record_file_next(const uint8_t **data, size_t *size, struct record_file *file) {
    if (!bytes_fit(file->at, 16, file->size)) return false;
    uint64_t length = load64(file->bytes + file->at);
    if (!bytes_fit(file->at + 16, length, file->size)) abort();
    *data = file->bytes + file->at + 12;
    *size = (size_t)length;
    file->at += 16 + length;
    return true;
}
