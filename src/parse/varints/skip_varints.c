#include "parse/varints/skip_varints.h"

#include "base/core/bytes.h"
#include "parse/varints/varints.h"

enum { WORD = 8, BLOCK = 8 * WORD };

#define TOP_BITS UINT64_C(0x8080808080808080)

/* One in each byte that ends a varint. */
static inline uint64_t ends_of(const uint8_t *data) {
    return (~load64(data) & TOP_BITS) >> 7;
}

static inline uint64_t sum_bytes(uint64_t word) {
    return (word * UINT64_C(0x0101010101010101)) >> 56;
}

/* How many varints end in a block. */
static uint64_t count_block(const uint8_t *data) {
    uint64_t sums = 0;
    for (size_t i = 0; i < BLOCK; i += WORD) sums += ends_of(data + i);
    return sum_bytes(sums);
}

/* Skips the blocks in which fewer than `count` varints end: the last one is not in them. Returns
 * their size, and subtracts the varints from `count`. */
static size_t skip_blocks(const uint8_t *data, size_t size, uint64_t *count) {
    size_t offset = 0;
    for (; size - offset >= BLOCK; offset += BLOCK) {
        uint64_t ends = count_block(data + offset);
        if (ends >= *count) break;
        *count -= ends;
    }
    return offset;
}

#ifdef VARINTS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))

TARGET static inline uint64_t count_block_avx2(const uint8_t *data) {
    const __m256i *halves = (const void *)data;
    unsigned low = (unsigned)_mm256_movemask_epi8(_mm256_loadu_si256(halves));
    unsigned high = (unsigned)_mm256_movemask_epi8(_mm256_loadu_si256(halves + 1));
    return BLOCK - (uint64_t)_mm_popcnt_u64((uint64_t)high << 32 | low);
}

TARGET static size_t skip_blocks_avx2(const uint8_t *data, size_t size, uint64_t *count) {
    size_t offset = 0;
    for (; size - offset >= BLOCK; offset += BLOCK) {
        uint64_t ends = count_block_avx2(data + offset);
        if (ends >= *count) break;
        *count -= ends;
    }
    return offset;
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
#endif

/* Skips the varints that are left after whole blocks. */
static size_t skip_rest(const uint8_t *data, size_t size, uint64_t count, size_t offset) {
    for (; size - offset >= WORD; offset += WORD) {
        uint64_t ends = sum_bytes(ends_of(data + offset));
        if (ends >= count) break;
        count -= ends;
    }
    for (; count && offset < size; offset++) count -= data[offset] < 0x80;
    return count ? SIZE_MAX : offset;
}

size_t skip_varints_portable(const uint8_t *data, size_t size, uint64_t count) {
    size_t offset = skip_blocks(data, size, &count);
    return skip_rest(data, size, count, offset);
}

size_t skip_varints(const uint8_t *data, size_t size, uint64_t count) {
#ifdef VARINTS_X86
    if (has_avx2()) {
        size_t offset = skip_blocks_avx2(data, size, &count);
        return skip_rest(data, size, count, offset);
    }
#endif
    return skip_varints_portable(data, size, count);
}
