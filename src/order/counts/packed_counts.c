/* Counts packed in memory: blocks of 128, each with its smallest count and the differences from it
 * in as few bits as the largest needs. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/memory/memory.h"
#include "order/counts/counts.h"

enum { BLOCK_SHIFT = 7, BLOCK = 1 << BLOCK_SHIFT };

/* A block's bits take 2 * width words, so that every block begins at a word. */
struct packed_block {
    uint64_t min;
    uint64_t bits; /* index of the first word << 8 | width */
};

struct packed_counts {
    recmap_counts base;
    struct packed_block *blocks;
    uint64_t *words; /* and one more, so that two words can be read at every bit */
};

static void packed_destroy(recmap_counts *counts) {
    struct packed_counts *packed = (struct packed_counts *)counts;
    free(packed->blocks);
    free(packed->words);
    free(packed);
}

static uint64_t mask_of(unsigned width) {
    return width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
}

/* Item `i` of a block whose bits begin at `words`. The last shift is split in two because a shift
 * by 64 is undefined. */
static inline uint64_t read_item(const uint64_t *words, unsigned width, unsigned i) {
    unsigned bit = i * width, shift = bit & 63;
    const uint64_t *word = words + (bit >> 6);
    return (word[0] >> shift | word[1] << 1 << (63 - shift)) & mask_of(width);
}

static inline uint64_t read_one(const struct packed_counts *packed, uint64_t record) {
    assert(record < packed->base.record_count);
    const struct packed_block *block = &packed->blocks[record >> BLOCK_SHIFT];
    unsigned width = block->bits & 0xff;
    return block->min + read_item(packed->words + (block->bits >> 8), width, record & (BLOCK - 1));
}

/* Random records miss the cache twice each, at the block and at its bits. So the bits of a record
 * are asked for some records after its block, and read as many records later: then the processor
 * waits for all of them together, and never for one alone. */
enum { LAG = 32 };

static void prefetch_block(const struct packed_counts *packed, uint64_t record) {
    __builtin_prefetch(&packed->blocks[record >> BLOCK_SHIFT]);
}

static void prefetch_bits(const struct packed_counts *packed, uint64_t record) {
    uint64_t bits = packed->blocks[record >> BLOCK_SHIFT].bits;
    size_t bit = (record & (BLOCK - 1)) * (bits & 0xff);
    __builtin_prefetch(packed->words + (bits >> 8) + (bit >> 6));
}

static inline void gather(uint64_t *values, const struct packed_counts *packed,
                          const uint64_t *records, size_t count, size_t lag) {
    for (size_t turn = 0; turn < count + 2 * lag; turn++) {
        if (turn < count) prefetch_block(packed, records[turn]);
        if (turn >= lag && turn - lag < count) prefetch_bits(packed, records[turn - lag]);
        if (turn >= 2 * lag) values[turn - 2 * lag] = read_one(packed, records[turn - 2 * lag]);
    }
}

static void packed_gather(uint64_t *values, const recmap_counts *counts, const uint64_t *records,
                          size_t count) {
    const struct packed_counts *packed = (const struct packed_counts *)counts;
    if (count >= LAG) gather(values, packed, records, count, LAG);
    else gather(values, packed, records, count, count);
}

static void packed_run(uint64_t *values, const recmap_counts *counts, uint64_t first,
                       size_t count) {
    const struct packed_counts *packed = (const struct packed_counts *)counts;
    assert(bytes_fit(first, count, counts->record_count));
    for (size_t done = 0; done < count;) {
        uint64_t record = first + done;
        const struct packed_block *block = &packed->blocks[record >> BLOCK_SHIFT];
        const uint64_t *words = packed->words + (block->bits >> 8);
        unsigned width = block->bits & 0xff, item = record & (BLOCK - 1);
        size_t here = (size_t)min_u64(BLOCK - item, count - done);
        for (size_t i = 0; i < here; i++)
            values[done + i] = block->min + read_item(words, width, item + (unsigned)i);
        done += here;
    }
}

static const struct counts_source packed_source = {
    .destroy = packed_destroy,
    .gather = packed_gather,
    .run = packed_run,
};

/* A block as it is packed. */
struct block_values {
    uint64_t values[BLOCK];
    size_t count;
    uint64_t min;
    unsigned width;
};

static recmap_status read_block(struct block_values *block, const struct counts_reader *reader,
                                uint64_t record_count, size_t index, recmap_error *error) {
    uint64_t first = (uint64_t)index << BLOCK_SHIFT, min = UINT64_MAX, max = 0;
    block->count = (size_t)min_u64(BLOCK, record_count - first);
    RETURN_IF_FAILED(reader->read(reader->context, block->values, first, block->count, error));
    for (size_t i = 0; i < block->count; i++) {
        if (block->values[i] < min) min = block->values[i];
        if (block->values[i] > max) max = block->values[i];
    }
    block->min = min;
    block->width = bit_length(max - min);
    return RECMAP_OK;
}

static void store_block(uint64_t *words, const struct block_values *block) {
    unsigned width = block->width;
    for (size_t i = 0; width && i < block->count; i++) {
        uint64_t item = block->values[i] - block->min;
        assert(bit_length(item) <= width);
        size_t bit = i * width;
        unsigned shift = bit & 63;
        words[bit >> 6] |= item << shift;
        words[(bit >> 6) + 1] |= item >> 1 >> (63 - shift);
    }
}

static size_t count_blocks(const struct packed_counts *packed) {
    return (size_t)((packed->base.record_count + BLOCK - 1) >> BLOCK_SHIFT);
}

/* Finds the widths of all blocks, so that the words can be allocated once. */
static recmap_status measure_blocks(uint64_t *word_count, struct packed_counts *packed,
                                    const struct counts_reader *reader, recmap_error *error) {
    struct block_values block;
    size_t block_count = count_blocks(packed);
    *word_count = 0;
    for (size_t b = 0; b < block_count; b++) {
        RETURN_IF_FAILED(read_block(&block, reader, packed->base.record_count, b, error));
        packed->blocks[b] = (struct packed_block){block.min, *word_count << 8 | block.width};
        *word_count += 2 * (uint64_t)block.width;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof block.values, error));
    }
    return RECMAP_OK;
}

/* Reads all blocks again and stores their bits. The bytes of an index can change at any time, so
 * each block must be what it was when its words were allocated. */
static recmap_status store_blocks(struct packed_counts *packed, const struct counts_reader *reader,
                                  recmap_error *error) {
    struct block_values block;
    size_t block_count = count_blocks(packed);
    for (size_t b = 0; b < block_count; b++) {
        const struct packed_block *measured = &packed->blocks[b];
        RETURN_IF_FAILED(read_block(&block, reader, packed->base.record_count, b, error));
        if (block.min != measured->min || block.width != (measured->bits & 0xff))
            return fail(error, RECMAP_CORRUPT, "element counts changed while they were being read");
        store_block(packed->words + (measured->bits >> 8), &block);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof block.values, error));
    }
    return RECMAP_OK;
}

static recmap_status pack(struct packed_counts *packed, const struct counts_reader *reader,
                          recmap_error *error) {
    uint64_t word_count;
    /* In huge pages: records are read at random, and most reads would miss the table of pages. */
    packed->blocks =
        (struct packed_block *)pages_allocate((count_blocks(packed) + 1) * sizeof *packed->blocks);
    if (!packed->blocks) return fail_memory(error);
    RETURN_IF_FAILED(measure_blocks(&word_count, packed, reader, error));
    size_t words_size = (word_count + 2) * sizeof *packed->words;
    packed->words = (uint64_t *)pages_allocate(words_size);
    if (!packed->words) return fail_memory(error);
    memset(packed->words, 0, words_size);
    RETURN_IF_FAILED(store_blocks(packed, reader, error));
    return counts_complete(&packed->base, error);
}

recmap_status counts_pack(recmap_counts **counts, const struct counts_reader *reader,
                          uint64_t record_count, recmap_error *error) {
    struct packed_counts *packed = calloc(1, sizeof *packed);
    if (!packed) return fail_memory(error);
    packed->base.source = &packed_source;
    packed->base.record_count = record_count;
    atomic_init(&packed->base.references, 1);
    recmap_status status = pack(packed, reader, error);
    if (status != RECMAP_OK) {
        packed_destroy(&packed->base);
        return status;
    }
    *counts = &packed->base;
    return RECMAP_OK;
}

/* The caller's array. */
struct count_array {
    const void *values;
    size_t value_size;
};

static recmap_status read_array(void *context, uint64_t *values, uint64_t first, size_t count,
                                recmap_error *error) {
    const struct count_array *array = context;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)first + i;
        switch (array->value_size) {
        case 1: values[i] = ((const uint8_t *)array->values)[at]; break;
        case 2: values[i] = ((const uint16_t *)array->values)[at]; break;
        case 4: values[i] = ((const uint32_t *)array->values)[at]; break;
        default: values[i] = ((const uint64_t *)array->values)[at];
        }
    }
    return RECMAP_OK;
}

/* Packing accepts any values: counts_complete checks their limits afterwards, as for every source
 * of counts. */
recmap_status recmap_counts_create(recmap_counts **counts, const void *values, size_t value_size,
                                   size_t record_count, recmap_error *error) {
    if (value_size != 1 && value_size != 2 && value_size != 4 && value_size != 8)
        return fail(error, RECMAP_INVALID, "counts of %zu bytes: they take 1, 2, 4 or 8",
                    value_size);
    struct count_array array = {values, value_size};
    struct counts_reader reader = {&array, read_array};
    return counts_pack(counts, &reader, record_count, error);
}
