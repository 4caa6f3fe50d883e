#include "parse/varints/count_varints.h"

#include <stdbool.h>

#include "parse/varints/varints.h"

#ifdef VARINTS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,popcnt")))

enum { BLOCK = 64 };

/* Bit i is set if byte i is not the last of a varint. */
TARGET static inline uint64_t find_more(const uint8_t *data) {
    const __m256i *halves = (const void *)data;
    unsigned low = (unsigned)_mm256_movemask_epi8(_mm256_loadu_si256(halves));
    unsigned high = (unsigned)_mm256_movemask_epi8(_mm256_loadu_si256(halves + 1));
    return (uint64_t)high << 32 | low;
}

/* Returns true if ten bits in a row are set. */
static inline bool has_ten(uint64_t more) {
    uint64_t two = more & more >> 1, four = two & two >> 2, eight = four & four >> 4;
    return eight & two >> 8;
}

TARGET static size_t count_blocks(struct varint_count *count, const uint8_t *data, size_t size) {
    struct varint_count local = *count;
    size_t offset = 0;
    for (; size - offset >= BLOCK; offset += BLOCK) {
        uint64_t more = find_more(data + offset);
        if (has_ten(more) || local.begun + _tzcnt_u64(~more) >= VARINT_SIZE_MAX) break;
        local.begun = (unsigned)__builtin_clzll(~more); /* ~more is not 0, or has_ten were true */
        local.ended += BLOCK - (uint64_t)_mm_popcnt_u64(more);
    }
    *count = local;
    return offset;
}

static bool has_fast_path(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
}

size_t varint_count_blocks(struct varint_count *count, const uint8_t *data, size_t size) {
    return has_fast_path() ? count_blocks(count, data, size) : 0;
}
#else
size_t varint_count_blocks(struct varint_count *count, const uint8_t *data, size_t size) {
    (void)count;
    (void)data;
    (void)size;
    return 0;
}
#endif
