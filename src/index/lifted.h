/* Packed columns: values lifted out of the records, 65,536 to a chunk. Integers take 0, 1, 2, 4 or
 * 8 bytes above the chunk's smallest; floats 4; bytes lie one behind the other with their ends.
 * docs/index-format.md specifies the bytes. Pure. */
#ifndef RECMAP_INDEX_LIFTED_H
#define RECMAP_INDEX_LIFTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

enum {
    COLUMN_CHUNK_SHIFT = 16,
    COLUMN_CHUNK_RECORDS = 1 << COLUMN_CHUNK_SHIFT,
    COLUMN_HEAD_SIZE = 16,
    COLUMN_BYTES_MAX = 255, /* a lifted value of bytes is short */
};

/* Values before packing: words are int64s, the bits of floats, or ends of bytes in `bytes`. */
struct column_values {
    recmap_type type; /* NONE: all are missing; the column's default stands for them */
    size_t count;
    const uint64_t *words;
    const uint8_t *bytes;
};

/* A chunk that column_open found sound. */
struct column_chunk {
    recmap_type type;
    size_t count;
    unsigned width; /* bytes an integer takes */
    int64_t base;
    const uint8_t *words;
    const uint8_t *bytes;
    size_t bytes_size;
};

size_t column_packed_size(const struct column_values *values);
void column_pack(uint8_t *packed, const struct column_values *values);

bool column_open(struct column_chunk *chunk, const uint8_t *packed, size_t size, size_t count);

/* The value at `i` < count; bytes point into the packed chunk, and never outside it, even when
 * somebody wrote into the file since the chunk was opened. */
recmap_value column_at(const struct column_chunk *chunk, size_t i);

/* "int64", "float", "bytes": for people. */
const char *column_type_name(recmap_type type);

/* Reads a default as a value of the type: the whole text must be one. NONE takes the narrowest type
 * that fits: int64, else float, else bytes. The value's bytes point into the text. */
bool column_parse_default(recmap_value *value, recmap_type type, const char *text);

#endif
