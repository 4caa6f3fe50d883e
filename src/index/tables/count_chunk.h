/* Packed element counts of one feature: 65,536 records to a chunk, 128 to a block. A block stores
 * its smallest count, and for each record the difference from it in as few bits as the largest
 * needs. Equal counts need no bits. docs/formats/index-format.md specifies the bytes. Pure. */
#ifndef RECMAP_INDEX_TABLES_COUNT_CHUNK_H
#define RECMAP_INDEX_TABLES_COUNT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/counts.h>

#include "index/tables/residuals.h"

enum {
    COUNT_CHUNK_SHIFT = 16,
    COUNT_CHUNK_RECORDS = 1 << COUNT_CHUNK_SHIFT,
    COUNT_BLOCK_SHIFT = RESIDUALS_BLOCK_SHIFT,
    COUNT_BLOCK_RECORDS = RESIDUALS_BLOCK_RECORDS,
    COUNT_ENTRY_SIZE = 16, /* of a block in the chunk's directory */
};

/* A chunk that count_chunk_open has checked. */
struct count_chunk {
    const uint8_t *directory;
    const uint8_t *bits;
    size_t bits_size; /* with the padding */
    size_t record_count;
};

/* The result of reading bytes that have changed since the chunk was opened. No record has it. */
#define COUNT_UNREADABLE UINT64_MAX

/* The largest size of a packed chunk. */
size_t count_chunk_capacity(size_t record_count);

/* Packs up to COUNT_CHUNK_RECORDS counts, each at most RECMAP_COUNTS_MAX. Returns the bytes written
 * to `bytes`, which has room for count_chunk_capacity. */
size_t count_chunk_pack(uint8_t *bytes, const uint64_t *counts, size_t record_count);

/* Opens a packed chunk. False unless its size is right for `record_count`, and the bits of every
 * block lie within it. The counts themselves are unverified. */
bool count_chunk_open(struct count_chunk *chunk, const uint8_t *bytes, size_t size,
                      size_t record_count);

/* The count of record `i` of the chunk, i < record_count. Never reads outside the chunk, even if
 * the file was written to since it was opened. */
uint64_t count_chunk_at(const struct count_chunk *chunk, size_t i);

#endif
