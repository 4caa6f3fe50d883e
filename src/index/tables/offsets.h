/* Packed offsets of records: 128 to a block, 2,048 blocks to a chunk.
 *
 * Offsets are positions in the concatenation of all shards. So they ascend from the first record of
 * a data set to the last, and blocks are independent of shards. A block stores a line (base and
 * slope) through its offsets, and for each offset the distance above that line, the residual, in as
 * few bits as the largest one needs. Records of equal length need no bits.
 * docs/formats/index-format.md specifies the bytes. Pure. */
#ifndef RECMAP_INDEX_TABLES_OFFSETS_H
#define RECMAP_INDEX_TABLES_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/bytes.h"
#include "index/tables/residuals.h"

enum {
    OFFSETS_BLOCK_SHIFT = RESIDUALS_BLOCK_SHIFT,
    OFFSETS_BLOCK_RECORDS = RESIDUALS_BLOCK_RECORDS,
    OFFSETS_CHUNK_SHIFT = 18,
    OFFSETS_CHUNK_RECORDS = 1 << OFFSETS_CHUNK_SHIFT,
    OFFSETS_ENTRY_SIZE = 24, /* of a block in the chunk's directory */
    OFFSETS_PADDING = RESIDUALS_PADDING,
};

/* A chunk that offsets_open has checked. */
struct offsets_chunk {
    const uint8_t *directory;
    const uint8_t *bits;
    size_t bits_size; /* with the padding */
    size_t record_count;
};

/* Not the offset of any record. */
#define OFFSETS_NOWHERE UINT64_MAX

/* The largest size of a packed chunk. */
size_t offsets_capacity(size_t record_count);

/* Packs up to OFFSETS_CHUNK_RECORDS ascending offsets; `shards[i]` is the shard of record i.
 * Returns the bytes written to `bytes`, which has room for offsets_capacity. */
size_t offsets_pack(uint8_t *bytes, const uint64_t *offsets, const uint32_t *shards,
                    size_t record_count);

/* Opens a packed chunk. False unless the bits of every block lie within `size`. */
bool offsets_open(struct offsets_chunk *chunk, const uint8_t *bytes, size_t size,
                  size_t record_count);

/* The directory entry of a block has these members: u64 base; u64 slope << 8 | width; u32 start of
 * the bits, in units of 8 bytes; u32 shard of the first record. The functions below read them. */

/* The offset of record `i` of the chunk, i < record_count. The file may be written to after the
 * chunk was checked. Then the result is OFFSETS_NOWHERE or a wrong offset, but nothing outside of
 * the chunk is read: that is why width and start are checked again here. */
static inline uint64_t offsets_at(const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_BLOCK_SHIFT) * OFFSETS_ENTRY_SIZE;
    size_t in_block = i & (OFFSETS_BLOCK_RECORDS - 1);
    uint64_t line = load64(entry + 8);
    unsigned width = line & 0xff;
    uint64_t offset = load64(entry) + (line >> 8) * in_block;
    if (!width) return offset;
    size_t start = 8 * (size_t)load32(entry + 16);
    if (width > 64 || start + (in_block * width >> 3) + 8 > chunk->bits_size)
        return OFFSETS_NOWHERE;
    return offset + residuals_at(chunk->bits + start, in_block, width);
}

/* Returns true if record `i` of a chunk has the last place in its block. */
static inline bool offsets_ends_block(size_t i) {
    return (i & (OFFSETS_BLOCK_RECORDS - 1)) == OFFSETS_BLOCK_RECORDS - 1;
}

/* Like offsets_at for record `i` and the next one, which must be in the same block. If one offset
 * cannot be read, both are OFFSETS_NOWHERE. */
static inline void offsets_pair_at(uint64_t *offset, uint64_t *next,
                                   const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_BLOCK_SHIFT) * OFFSETS_ENTRY_SIZE;
    size_t in_block = i & (OFFSETS_BLOCK_RECORDS - 1);
    uint64_t line = load64(entry + 8);
    unsigned width = line & 0xff;
    *offset = load64(entry) + (line >> 8) * in_block;
    *next = *offset + (line >> 8);
    if (!width) return;
    size_t start = 8 * (size_t)load32(entry + 16);
    if (width > 64 || start + ((in_block + 1) * width >> 3) + 8 > chunk->bits_size) {
        *offset = *next = OFFSETS_NOWHERE;
        return;
    }
    *offset += residuals_at(chunk->bits + start, in_block, width);
    *next += residuals_at(chunk->bits + start, in_block + 1, width);
}

/* The shard of the first record of the block of record `i`: a lower bound for the shard of record
 * `i`. Unverified. */
static inline uint32_t offsets_shard_hint(const struct offsets_chunk *chunk, size_t i) {
    return load32(chunk->directory + (i >> OFFSETS_BLOCK_SHIFT) * OFFSETS_ENTRY_SIZE + 20);
}

/* An estimate of the offset of record `i`, from the directory alone. It is off by at most
 * `*error`. */
static inline uint64_t offsets_guess(uint64_t *error, const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_BLOCK_SHIFT) * OFFSETS_ENTRY_SIZE;
    uint64_t line = load64(entry + 8);
    unsigned width = line & 0xff;
    *error = width < 64 ? (uint64_t)1 << width >> 1 : UINT64_MAX;
    return load64(entry) + (line >> 8) * (i & (OFFSETS_BLOCK_RECORDS - 1)) + *error;
}

/* Prefetches what offsets_at reads first: the block's entry in the directory. */
static inline void offsets_prefetch(const struct offsets_chunk *chunk, size_t i) {
    __builtin_prefetch(chunk->directory + (i >> OFFSETS_BLOCK_SHIFT) * OFFSETS_ENTRY_SIZE);
}

/* Prefetches what offsets_at reads next: the bits. This reads the directory entry. */
static inline void offsets_prefetch_bits(const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_BLOCK_SHIFT) * OFFSETS_ENTRY_SIZE;
    size_t bit = (i & (OFFSETS_BLOCK_RECORDS - 1)) * entry[8];
    __builtin_prefetch(chunk->bits + 8 * (size_t)load32(entry + 16) + (bit >> 3));
}

#endif
