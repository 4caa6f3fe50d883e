/* Packed offsets: where records begin, 128 to a frame, 2,048 frames to a chunk.
 *
 * Offsets are places in the concatenation of all shards, so that they ascend from the first record
 * of a data set to the last, and frames need not care for shards. A frame keeps a line through its
 * offsets and each one's distance above that line, in as few bits as the largest needs; equal
 * lengths need none. docs/index-format.md specifies the bytes. Pure. */
#ifndef RECMAP_INDEX_OFFSETS_H
#define RECMAP_INDEX_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    OFFSETS_FRAME_SHIFT = 7,
    OFFSETS_FRAME_RECORDS = 1 << OFFSETS_FRAME_SHIFT,
    OFFSETS_CHUNK_SHIFT = 18,
    OFFSETS_CHUNK_RECORDS = 1 << OFFSETS_CHUNK_SHIFT,
    OFFSETS_ENTRY_SIZE = 24, /* of a frame in the chunk's directory */
    OFFSETS_PADDING = 8,     /* behind the bits, so that eight bytes can be read at every bit */
};

/* A chunk that offsets_open found sound. */
struct offsets_chunk {
    const uint8_t *directory;
    const uint8_t *bits;
    size_t bits_size; /* with the padding */
    size_t record_count;
};

/* Not the place of any record. */
#define OFFSETS_NOWHERE UINT64_MAX

/* Bytes that a packed chunk can have at most. */
size_t offsets_capacity(size_t record_count);

/* Packs up to OFFSETS_CHUNK_RECORDS ascending offsets; `shards[i]` is the shard of record i.
 * Returns the bytes written to `packed`, which has room for offsets_capacity. */
size_t offsets_pack(uint8_t *packed, const uint64_t *offsets, const uint32_t *shards,
                    size_t record_count);

/* Checks that every frame's bits lie inside the packed bytes. */
bool offsets_open(struct offsets_chunk *chunk, const uint8_t *packed, size_t size,
                  size_t record_count);

/* A directory entry: u64 base, u64 slope << 8 | width, u32 bits (in units of 8 bytes), u32 shard.
 */
static inline uint64_t offsets_residual(const uint8_t *bits, size_t i, unsigned width) {
    if (width == 64) return load64(bits + 8 * i);
    size_t bit = i * width;
    return load64(bits + (bit >> 3)) >> (bit & 7) & (((uint64_t)1 << width) - 1);
}

/* The offset of record `i` of the chunk, i < record_count. Bytes that were sound when the chunk was
 * opened can be others by now, in a file that somebody writes into: then OFFSETS_NOWHERE, or a
 * wrong offset, but never a read outside. */
static inline uint64_t offsets_at(const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_FRAME_SHIFT) * OFFSETS_ENTRY_SIZE;
    size_t in_frame = i & (OFFSETS_FRAME_RECORDS - 1);
    uint64_t line = load64(entry + 8);
    unsigned width = line & 0xff;
    uint64_t offset = load64(entry) + (line >> 8) * in_frame;
    if (!width) return offset;
    size_t start = 8 * (size_t)load32(entry + 16);
    if (width > 64 || start + (in_frame * width >> 3) + 8 > chunk->bits_size)
        return OFFSETS_NOWHERE;
    return offset + offsets_residual(chunk->bits + start, in_frame, width);
}

/* Whether record `i` of a chunk is the last of a full frame. */
static inline bool offsets_ends_frame(size_t i) {
    return (i & (OFFSETS_FRAME_RECORDS - 1)) == OFFSETS_FRAME_RECORDS - 1;
}

/* The same of record `i` and of the next one, which is in the same frame: of both or of none. */
static inline void offsets_pair_at(uint64_t *offset, uint64_t *next,
                                   const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_FRAME_SHIFT) * OFFSETS_ENTRY_SIZE;
    size_t in_frame = i & (OFFSETS_FRAME_RECORDS - 1);
    uint64_t line = load64(entry + 8);
    unsigned width = line & 0xff;
    *offset = load64(entry) + (line >> 8) * in_frame;
    *next = *offset + (line >> 8);
    if (!width) return;
    size_t start = 8 * (size_t)load32(entry + 16);
    if (width > 64 || start + ((in_frame + 1) * width >> 3) + 8 > chunk->bits_size) {
        *offset = *next = OFFSETS_NOWHERE;
        return;
    }
    *offset += offsets_residual(chunk->bits + start, in_frame, width);
    *next += offsets_residual(chunk->bits + start, in_frame + 1, width);
}

/* The shard of the first record of the frame that record `i` is in: a lower bound for its own. */
static inline uint32_t offsets_shard_hint(const struct offsets_chunk *chunk, size_t i) {
    return load32(chunk->directory + (i >> OFFSETS_FRAME_SHIFT) * OFFSETS_ENTRY_SIZE + 20);
}

/* About where record `i` begins, out of the directory alone: not farther off than `*error`. */
static inline uint64_t offsets_guess(uint64_t *error, const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_FRAME_SHIFT) * OFFSETS_ENTRY_SIZE;
    uint64_t line = load64(entry + 8);
    unsigned width = line & 0xff;
    *error = width < 64 ? (uint64_t)1 << width >> 1 : UINT64_MAX;
    return load64(entry) + (line >> 8) * (i & (OFFSETS_FRAME_RECORDS - 1)) + *error;
}

/* Asks the processor to fetch what offsets_at will read first: the frame's entry in the directory.
 */
static inline void offsets_prefetch(const struct offsets_chunk *chunk, size_t i) {
    __builtin_prefetch(chunk->directory + (i >> OFFSETS_FRAME_SHIFT) * OFFSETS_ENTRY_SIZE);
}

/* The same for what it reads next, once the entry is there: the bits. */
static inline void offsets_prefetch_bits(const struct offsets_chunk *chunk, size_t i) {
    const uint8_t *entry = chunk->directory + (i >> OFFSETS_FRAME_SHIFT) * OFFSETS_ENTRY_SIZE;
    size_t bit = (i & (OFFSETS_FRAME_RECORDS - 1)) * entry[8];
    __builtin_prefetch(chunk->bits + 8 * (size_t)load32(entry + 16) + (bit >> 3));
}

#endif
