/* Processes 64 bytes per step: a bit mask shows where varints end, each varint is fetched with one
 * load, and pext removes the top bit of each of its bytes. */
#include "parse/varints/varints.h"

#ifdef VARINTS_X86
#include <immintrin.h>
#include <string.h>

#include "base/core/bytes.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* BLOCK bytes are decoded per step. Up to ROOM bytes are read, because lanes without a varint load
 * from the 65th byte on. */
enum { BLOCK = 64, ROOM = BLOCK + 16 };

#define SEVEN_BITS UINT64_C(0x7f7f7f7f7f7f7f7f)

/* Bit i is set if byte i is not the last of a varint. */
INLINE uint64_t find_more(const uint8_t *data) {
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)data);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(data + 32));
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

/* Decodes varints of at most eight bytes. Writes up to seven values too many. */
INLINE void take_short(int64_t *values, const uint8_t *data, uint64_t ends, size_t count) {
    size_t start = 0;
    for (size_t i = 0; i < count; i += 8) {
        for (size_t j = i; j < i + 8; j++) {
            size_t next = (size_t)_tzcnt_u64(ends) + 1;
            uint64_t mask = _bzhi_u64(SEVEN_BITS, (unsigned)(8 * (next - start)));
            values[j] = (int64_t)_pext_u64(load64(data + start), mask);
            ends = _blsr_u64(ends);
            start = next;
        }
    }
}

/* Decodes eight varints of at most four bytes from a window of 16. Byte i of `starts` is the
 * position of varint i. */
INLINE void take_eight(int64_t *values, __m256i window, uint64_t starts) {
    const __m256i lanes = _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4,
                                           4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
    __m256i start = _mm256_shuffle_epi8(_mm256_set1_epi64x((long long)starts), lanes);
    __m256i at = _mm256_add_epi8(start, _mm256_set1_epi32(0x03020100));
    __m256i bytes = _mm256_shuffle_epi8(window, at);
    __m256i stop = _mm256_andnot_si256(bytes, _mm256_set1_epi8((char)0x80));
    __m256i below = _mm256_add_epi32(stop, _mm256_set1_epi32(-1));
    __m256i own = _mm256_and_si256(_mm256_xor_si256(stop, below), _mm256_set1_epi8(0x7f));
    __m256i pairs =
        _mm256_maddubs_epi16(_mm256_set1_epi16(0x8001 - 0x10000), _mm256_and_si256(bytes, own));
    __m256i folded = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x40000001));
    _mm256_storeu_si256((__m256i *)(void *)values,
                        _mm256_cvtepu32_epi64(_mm256_castsi256_si128(folded)));
    _mm256_storeu_si256((__m256i *)(void *)(values + 4),
                        _mm256_cvtepu32_epi64(_mm256_extracti128_si256(folded, 1)));
}

/* Decodes varints of at most four bytes, those that end within the next 16 bytes at a time. Writes
 * up to 15 values too many. pdep and pext turn the mask of ends into a list of start positions, one
 * nibble each. */
INLINE void take_narrow(int64_t *values, const uint8_t *data, uint64_t ends) {
    while (ends) {
        uint32_t near = (uint32_t)ends & 0xffff, starts = near << 1 | 1;
        uint64_t nibbles = _pdep_u64(starts, UINT64_C(0x1111111111111111)) * 15;
        uint64_t begins = _pext_u64(UINT64_C(0xfedcba9876543210), nibbles);
        __m256i window = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)data));
        size_t count = (size_t)_mm_popcnt_u32(near), used = 32 - _lzcnt_u32(near);
        take_eight(values, window, _pdep_u64(begins, UINT64_C(0x0f0f0f0f0f0f0f0f)));
        if (count > 8)
            take_eight(values + 8, window, _pdep_u64(begins >> 32, UINT64_C(0x0f0f0f0f0f0f0f0f)));
        values += count;
        data += used;
        ends >>= used;
    }
}

/* Decodes varints of any length. Returns false if one has more than ten bytes. */
TARGET static bool take_long(int64_t *values, const uint8_t *data, uint64_t ends, size_t count) {
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        size_t next = (size_t)_tzcnt_u64(ends) + 1, size = next - start;
        if (size > 10) return false;
        uint64_t mask = _bzhi_u64(SEVEN_BITS, (unsigned)(8 * size));
        uint64_t value = _pext_u64(load64(data + start), mask);
        if (size > 8) value |= (uint64_t)(data[start + 8] & 0x7f) << 56;
        if (size > 9) value |= (uint64_t)data[start + 9] << 63;
        values[i] = (int64_t)value;
        ends = _blsr_u64(ends);
        start = next;
    }
    return true;
}

/* Decodes the varints that end in the first `size` (at most BLOCK) of ROOM readable bytes. Returns
 * how many bytes they use, or 0 if they are malformed. */
INLINE size_t take_block(int64_t *values, size_t *total, size_t capacity, const uint8_t *data,
                         size_t size) {
    uint64_t more = find_more(data), ends = _bzhi_u64(~more, (unsigned)size);
    size_t count = (size_t)_mm_popcnt_u64(ends);
    if (!count || count > capacity - *total) return 0;
    uint64_t pairs = more & more >> 1, runs_of_4 = pairs & pairs >> 2;
    if (!runs_of_4) take_narrow(values + *total, data, ends);
    else if (!(runs_of_4 & runs_of_4 >> 4)) take_short(values + *total, data, ends, count);
    else if (!take_long(values + *total, data, ends, count)) return 0;
    *total += count;
    return BLOCK - (size_t)_lzcnt_u64(ends);
}

TARGET size_t varints_avx2(int64_t *values, size_t capacity, const uint8_t *data, size_t size) {
    uint8_t rest[2 * ROOM];
    size_t total = 0;
    bool is_copied = false;
    while (size > 0) {
        if (size < ROOM && !is_copied) {
            memset(rest, 0, sizeof rest);
            data = memcpy(rest, data, size);
            is_copied = true;
        }
        size_t used = take_block(values, &total, capacity, data, size < BLOCK ? size : BLOCK);
        if (!used) return VARINTS_BAD;
        data += used;
        size -= used;
    }
    return total;
}
#endif
