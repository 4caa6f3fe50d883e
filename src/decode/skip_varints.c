#include "decode/skip_varints.h"

#include "base/bytes.h"

enum { WORD = 8, BLOCK = 8 * WORD };

#define TOP_BITS UINT64_C(0x8080808080808080)

/* One in each byte that ends a varint. */
static inline uint64_t ends_of(const uint8_t *data) {
    return (~load64(data) & TOP_BITS) >> 7;
}

static inline uint64_t sum_bytes(uint64_t word) {
    return (word * UINT64_C(0x0101010101010101)) >> 56;
}

static uint64_t count_block(const uint8_t *data) {
    uint64_t sums = 0;
    for (size_t i = 0; i < BLOCK; i += WORD) sums += ends_of(data + i);
    return sum_bytes(sums);
}

/* A block has at most as many varints as bytes. So while more than that are to be skipped, the last
 * one is not in the block, and counting is enough. */
size_t skip_varints(const uint8_t *data, size_t size, uint64_t count) {
    size_t offset = 0;
    for (; size - offset >= BLOCK && count > BLOCK; offset += BLOCK)
        count -= count_block(data + offset);
    for (; size - offset >= WORD && count > WORD; offset += WORD)
        count -= sum_bytes(ends_of(data + offset));
    for (; count && offset < size; offset++) count -= data[offset] < 0x80;
    return count ? SIZE_MAX : offset;
}
