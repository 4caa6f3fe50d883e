#include "index/tables/count_chunk.h"

#include <assert.h>

/* The members of a directory entry: u64 smallest count; u32 start of the bits, in units of 8 bytes;
 * u8 width; 3 zero bytes. */
enum { START_OFFSET = 8, WIDTH_OFFSET = 12 };

size_t count_chunk_capacity(size_t record_count) {
    return residuals_block_count(record_count) *
               (COUNT_ENTRY_SIZE + residuals_size(COUNT_BLOCK_RECORDS, 64)) +
           RESIDUALS_PADDING;
}

/* Packs one block: its entry in the directory, and its bits. Returns the size of the bits. */
static size_t pack_block(uint8_t *entry, uint8_t *bits, size_t position, const uint64_t *counts,
                         size_t count) {
    assert(count && count <= COUNT_BLOCK_RECORDS && position % 8 == 0);
    uint64_t smallest = UINT64_MAX, largest = 0, residuals[COUNT_BLOCK_RECORDS];
    for (size_t i = 0; i < count; i++) {
        if (counts[i] < smallest) smallest = counts[i];
        if (counts[i] > largest) largest = counts[i];
    }
    for (size_t i = 0; i < count; i++) residuals[i] = counts[i] - smallest;
    unsigned width = residuals_width(largest - smallest);
    store64(entry, smallest);
    store32(entry + START_OFFSET, (uint32_t)(position / 8));
    store32(entry + WIDTH_OFFSET, width);
    return residuals_write(bits, width, residuals, count);
}

size_t count_chunk_pack(uint8_t *bytes, const uint64_t *counts, size_t record_count) {
    assert(record_count <= COUNT_CHUNK_RECORDS);
    size_t blocks = residuals_block_count(record_count), position = 0;
    uint8_t *bits = bytes + blocks * COUNT_ENTRY_SIZE;
    for (size_t b = 0; b < blocks; b++)
        position += pack_block(bytes + b * COUNT_ENTRY_SIZE, bits + position, position,
                               counts + (b << COUNT_BLOCK_SHIFT),
                               residuals_in_block(record_count, b));
    memset(bits + position, 0, RESIDUALS_PADDING);
    return (size_t)(bits - bytes) + position + RESIDUALS_PADDING;
}

bool count_chunk_open(struct count_chunk *chunk, const uint8_t *bytes, size_t size,
                      size_t record_count) {
    size_t blocks = residuals_block_count(record_count), directory = blocks * COUNT_ENTRY_SIZE;
    if (size < directory + RESIDUALS_PADDING) return false;
    uint64_t bits = size - directory - RESIDUALS_PADDING;
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *entry = bytes + b * COUNT_ENTRY_SIZE;
        if (!residuals_fit(load32(entry + START_OFFSET), load32(entry + WIDTH_OFFSET),
                           residuals_in_block(record_count, b), bits))
            return false;
    }
    *chunk = (struct count_chunk){bytes, bytes + directory, (size_t)bits + RESIDUALS_PADDING,
                                  record_count};
    return true;
}

/* The file may be written to after the chunk was checked, so width and start are checked again. */
uint64_t count_chunk_at(const struct count_chunk *chunk, size_t i) {
    assert(i < chunk->record_count);
    const uint8_t *entry = chunk->directory + (i >> COUNT_BLOCK_SHIFT) * COUNT_ENTRY_SIZE;
    size_t in_block = i & (COUNT_BLOCK_RECORDS - 1);
    uint64_t smallest = load64(entry);
    uint32_t width = load32(entry + WIDTH_OFFSET);
    if (!width) return smallest;
    size_t start = 8 * (size_t)load32(entry + START_OFFSET);
    if (width > 64 || start + (in_block * width >> 3) + 8 > chunk->bits_size)
        return COUNT_UNREADABLE;
    return smallest + residuals_at(chunk->bits + start, in_block, width);
}
