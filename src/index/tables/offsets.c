#include "index/tables/offsets.h"

#include <assert.h>

size_t offsets_capacity(size_t record_count) {
    size_t blocks = residuals_block_count(record_count);
    return blocks * OFFSETS_ENTRY_SIZE + residuals_size(blocks * OFFSETS_BLOCK_RECORDS, 64) +
           OFFSETS_PADDING;
}

/* The slope of a block's line is the mean distance of its offsets. All arithmetic wraps modulo
 * 2^64, so that a base below zero needs no special case. A slope over 56 bits does not fit the
 * entry; data sets are far smaller. */
static uint64_t choose_slope(const uint64_t *offsets, size_t count) {
    if (count < 2) return 0;
    uint64_t slope = (offsets[count - 1] - offsets[0]) / (count - 1);
    return slope >> 56 ? 0 : slope;
}

/* Packs one block: its entry in the directory and its bits. Returns the size of the bits. The base
 * is lowered so that the line lies below all offsets and residuals are not negative. */
static size_t pack_block(uint8_t *entry, uint8_t *bits, size_t position, const uint64_t *offsets,
                         uint32_t shard, size_t count) {
    assert(count && count <= OFFSETS_BLOCK_RECORDS && position % 8 == 0);
    uint64_t slope = choose_slope(offsets, count);
    int64_t lowest = 0, highest = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t distance = (int64_t)(offsets[i] - offsets[0] - slope * i);
        if (distance < lowest) lowest = distance;
        if (distance > highest) highest = distance;
    }
    unsigned width = residuals_width((uint64_t)highest - (uint64_t)lowest);
    uint64_t base = offsets[0] + (uint64_t)lowest, residuals[OFFSETS_BLOCK_RECORDS];
    for (size_t i = 0; i < count; i++) residuals[i] = offsets[i] - base - slope * i;
    store64(entry, base);
    store64(entry + 8, slope << 8 | width);
    store32(entry + 16, (uint32_t)(position / 8));
    store32(entry + 20, shard);
    size_t size = residuals_write(bits, width, residuals, count);
    memset(bits + size, 0, OFFSETS_PADDING);
    return size;
}

size_t offsets_pack(uint8_t *bytes, const uint64_t *offsets, const uint32_t *shards,
                    size_t record_count) {
    assert(record_count <= OFFSETS_CHUNK_RECORDS);
    size_t blocks = residuals_block_count(record_count), position = 0;
    uint8_t *bits = bytes + blocks * OFFSETS_ENTRY_SIZE;
    for (size_t b = 0; b < blocks; b++) {
        size_t first = b << OFFSETS_BLOCK_SHIFT;
        position += pack_block(bytes + b * OFFSETS_ENTRY_SIZE, bits + position, position,
                               offsets + first, shards[first], residuals_in_block(record_count, b));
    }
    return (size_t)(bits - bytes) + position + OFFSETS_PADDING;
}

/* Checks the directory once, so that offsets_at need not trust it: width and start of every block
 * must leave its bits, and the padding after them, inside the chunk. */
bool offsets_open(struct offsets_chunk *chunk, const uint8_t *bytes, size_t size,
                  size_t record_count) {
    size_t blocks = residuals_block_count(record_count);
    size_t directory = blocks * OFFSETS_ENTRY_SIZE;
    if (size < directory + OFFSETS_PADDING) return false;
    uint64_t bits = size - directory - OFFSETS_PADDING;
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *entry = bytes + b * OFFSETS_ENTRY_SIZE;
        if (!residuals_fit(load32(entry + 16), entry[8], residuals_in_block(record_count, b), bits))
            return false;
    }
    *chunk = (struct offsets_chunk){bytes, bytes + directory, (size_t)bits + OFFSETS_PADDING,
                                    record_count};
    return true;
}
