/* Lifted columns: values copied from the records into the index, 65,536 to a chunk. An integer is
 * stored as its difference from the smallest in the chunk, in 0, 1, 2, 4 or 8 bytes; a float in 4
 * bytes, a float64 in 8; values of bytes one after the other, with a list of their ends, or as
 * codes of the distinct texts if that is smaller. A chunk in which some values are null has a bit
 * for each value. docs/formats/index-format.md specifies the bytes. Pure. */
#ifndef RECMAP_INDEX_TABLES_LIFTED_H
#define RECMAP_INDEX_TABLES_LIFTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

enum {
    COLUMN_CHUNK_SHIFT = 16,
    COLUMN_CHUNK_RECORDS = 1 << COLUMN_CHUNK_SHIFT,
    COLUMN_PREFIX_SIZE = 16,
    COLUMN_BYTES_MAX = 255, /* the longest lifted value of bytes */
    COLUMN_HAS_NULLS = 1,   /* flags of a chunk */
    COLUMN_HAS_DICTIONARY = 2,
};

/* Values before packing. A word is an int64, the bits of a float or float64, or the value's end in
 * `bytes`. */
struct column_values {
    recmap_type type; /* NONE: all values are missing, and are null or have the column's default */
    size_t count;
    const uint64_t *words;
    const uint8_t *bytes;
    const uint8_t *nulls; /* 1 for each value that is null, which is empty if it is of bytes; or
                             NULL if none is */
};

/* A chunk that column_open has checked. */
struct column_chunk {
    recmap_type type; /* NONE: all values are null, or all have the column's default */
    size_t count;
    size_t null_count;
    unsigned width; /* bytes per integer or code */
    int64_t base;
    const uint8_t *valid; /* a bit for each value that is not null; NULL if all or none are */
    const uint8_t *words;
    size_t text_count;   /* of the dictionary; 0 if there is none */
    const uint8_t *ends; /* of the texts of the dictionary, or of all values */
    const uint8_t *bytes;
    size_t bytes_size;
};

/* Packs the values. The result is allocated with malloc; NULL if memory is out. */
uint8_t *column_pack(size_t *size, const struct column_values *values);

/* A number as a word: an int64, or the bits of a float or float64; and back. */
uint64_t column_word(const recmap_value *number);
recmap_value column_number(recmap_type type, uint64_t word);

/* Returns the word of a value: the number, or where its bytes end after they are appended to the
 * bytes of the column. A missing value is empty, so that ends ascend without gaps: of a column that
 * has no typed value yet, the next one may be bytes. There must be room for the bytes. */
uint64_t column_append(uint8_t *bytes, size_t *bytes_size, const recmap_value *value);

/* The lowest format version of an index with this packed chunk: 4 if it is of type float64, else 2
 * if it has flags, else 1. */
uint32_t column_format_version(const uint8_t *bytes, size_t size);

/* Opens a packed chunk of `count` values. False if it is malformed. */
bool column_open(struct column_chunk *chunk, const uint8_t *bytes, size_t size, size_t count);

/* The value at `i` < count; type NONE if it is null. Bytes point into the packed chunk, and never
 * outside of it, even if the file was written to since the chunk was opened. */
recmap_value column_at(const struct column_chunk *chunk, size_t i);

/* The value of a null: type NONE, and no bytes, for readers of a column of bytes. */
recmap_value column_null(void);

/* Copies `count` values from `first` on, of a chunk of that type: the same as column_at for each,
 * at a fraction of its cost. A null is copied as 0. */
void column_copy_int64(int64_t *values, const struct column_chunk *chunk, size_t first,
                       size_t count);
void column_copy_float(float *values, const struct column_chunk *chunk, size_t first, size_t count);
void column_copy_float64(double *values, const struct column_chunk *chunk, size_t first,
                         size_t count);

/* Sets each of `count` bytes to whether the value from `first` on is null. */
void column_copy_nulls(uint8_t *nulls, const struct column_chunk *chunk, size_t first,
                       size_t count);

/* Parses the whole text as a value of the type. For NONE the result has the first type that fits:
 * int64, float, bytes. Bytes point into the text. False if the text is not such a value. */
bool column_parse_default(recmap_value *value, recmap_type type, const char *text);

#endif
