/* Processes 64 bytes per step: the positions where varints start are compressed into a list, and a
 * byte permutation then moves the bytes of each varint into a lane of its own. */
#include "parse/varints/varints.h"

#ifdef VARINTS_X86
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt,lzcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* A block of 64 bytes. */
struct block {
    __m512i bytes;
    __m512i starts; /* the position of each varint's first byte */
    uint64_t more;  /* bit i: byte i is not the last of a varint */
    uint64_t ends;  /* bit i: byte i is the last of a varint */
};

INLINE __m512i add_bytes(__m512i a, __m512i b) {
    return _mm512_add_epi8(a, b);
}

INLINE __m512i iota(void) {
    static const uint8_t numbers[64] __attribute__((aligned(64))) = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    return _mm512_load_si512(numbers);
}

/* Bit i of `there` is set if byte i is part of the run. */
INLINE struct block make_block(__m512i bytes, uint64_t there) {
    struct block b;
    b.bytes = bytes;
    b.more = _mm512_movepi8_mask(bytes);
    b.ends = ~b.more & there;
    /* Compress into a register: compressing to memory is slow on Zen 4. */
    b.starts = _mm512_maskz_compress_epi8(b.ends << 1 | 1, iota());
    return b;
}

/* Merges seven bits of each byte in a lane of 32. */
INLINE __m512i fold(__m512i bytes) {
    __m512i pairs = _mm512_maddubs_epi16(_mm512_set1_epi16(0x8001 - 0x10000), bytes);
    return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x40000001));
}

/* Decodes 16 varints of at most four bytes, starting with number `first` of the block. */
INLINE void take_narrow(int64_t *values, const struct block *b, int first) {
    const __m512i lanes = _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c,
                                           0x0b0b0b0b, 0x0a0a0a0a, 0x09090909, 0x08080808,
                                           0x07070707, 0x06060606, 0x05050505, 0x04040404,
                                           0x03030303, 0x02020202, 0x01010101, 0x00000000);
    __m512i which = add_bytes(lanes, _mm512_set1_epi8((char)first));
    __m512i start = _mm512_permutexvar_epi8(which, b->starts);
    __m512i at = add_bytes(start, _mm512_set1_epi32(0x03020100));
    __m512i bytes = _mm512_permutexvar_epi8(at, b->bytes);
    __m512i stop = _mm512_andnot_si512(bytes, _mm512_set1_epi32((int)0x80808080));
    __m512i below = _mm512_add_epi32(stop, _mm512_set1_epi32(-1));
    __m512i own = _mm512_ternarylogic_epi32(bytes, stop, below, 0x60); /* a & (b ^ c) */
    __m512i folded = fold(_mm512_and_si512(own, _mm512_set1_epi32(0x7f7f7f7f)));
    _mm512_storeu_si512(values, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(folded)));
    _mm512_storeu_si512(values + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(folded, 1)));
}

/* Returns the bits that a ninth and a tenth byte contribute, if there are any. */
INLINE __m512i take_last_bits(const struct block *b, __m512i at) {
    __m512i bytes = _mm512_permutexvar_epi8(add_bytes(at, _mm512_set1_epi8(8)), b->bytes);
    __m512i ninth = _mm512_srli_epi64(_mm512_slli_epi64(bytes, 57), 1);
    __m512i tenth = _mm512_and_si512(_mm512_srli_epi64(bytes, 8), _mm512_srli_epi64(bytes, 7));
    return _mm512_or_si512(ninth, _mm512_slli_epi64(tenth, 63));
}

/* Decodes eight varints of any length, starting with number `first` of the block. */
INLINE void take_wide(int64_t *values, const struct block *b, int first, bool has_nine) {
    const __m512i lanes = _mm512_set_epi64(
        0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
        0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0x0000000000000000);
    __m512i which = add_bytes(lanes, _mm512_set1_epi8((char)first));
    __m512i start = _mm512_permutexvar_epi8(which, b->starts);
    __m512i at = add_bytes(start, _mm512_set1_epi64(0x0706050403020100));
    __m512i bytes = _mm512_permutexvar_epi8(at, b->bytes);
    __m512i stop = _mm512_andnot_si512(bytes, _mm512_set1_epi8((char)0x80));
    __m512i below = _mm512_add_epi64(stop, _mm512_set1_epi64(-1));
    __m512i own = _mm512_ternarylogic_epi64(bytes, stop, below, 0x60);
    __m512i folded = fold(_mm512_and_si512(own, _mm512_set1_epi8(0x7f)));
    __m512i low = _mm512_and_si512(folded, _mm512_set1_epi64(0xffffffff));
    __m512i high = _mm512_slli_epi64(_mm512_srli_epi64(folded, 32), 28);
    __m512i value = _mm512_or_si512(low, high);
    if (has_nine) {
        __mmask8 is_long = _mm512_testn_epi64_mask(stop, stop);
        value = _mm512_mask_or_epi64(value, is_long, value, take_last_bits(b, at));
    }
    _mm512_storeu_si512(values, value);
}

/* Stores no group that starts past `count`, since it would exceed the slack. */
INLINE void take_all_narrow(int64_t *values, const struct block *b, int count) {
    take_narrow(values, b, 0);
    if (count <= 16) return;
    take_narrow(values + 16, b, 16);
    if (count <= 32) return;
    take_narrow(values + 32, b, 32);
    if (count > 48) take_narrow(values + 48, b, 48);
}

/* Returns false if a varint has more than ten bytes. */
INLINE bool take_all_wide(int64_t *values, const struct block *b, int count, uint64_t runs_of_4) {
    uint64_t runs_of_8 = runs_of_4 & runs_of_4 >> 4;
    if (!runs_of_8) {
        for (int i = 0; i < count; i += 8) take_wide(values + i, b, i, false);
        return true;
    }
    if (runs_of_8 & b->more >> 8 & b->more >> 9) return false;
    for (int i = 0; i < count; i += 8) take_wide(values + i, b, i, true);
    return true;
}

/* Decodes the varints that end in the block. Returns how many bytes they use, or 0 if they are
 * malformed. */
INLINE size_t take_block(int64_t *values, size_t *total, size_t capacity, const struct block *b) {
    size_t count = (size_t)_mm_popcnt_u64(b->ends);
    if (!count || count > capacity - *total) return 0;
    uint64_t pairs = b->more & b->more >> 1, runs_of_4 = pairs & pairs >> 2;
    if (!runs_of_4) take_all_narrow(values + *total, b, (int)count);
    else if (!take_all_wide(values + *total, b, (int)count, runs_of_4)) return 0;
    *total += count;
    return 64 - (size_t)_lzcnt_u64(b->ends);
}

TARGET size_t varints_avx512(int64_t *values, size_t capacity, const uint8_t *data, size_t size) {
    const uint8_t *end = data + size;
    size_t total = 0, used;
    for (; end - data >= 64; data += used) {
        const struct block b = make_block(_mm512_loadu_si512(data), UINT64_MAX);
        used = take_block(values, &total, capacity, &b);
        if (!used) return VARINTS_BAD;
    }
    for (; data < end; data += used) {
        uint64_t there = _bzhi_u64(UINT64_MAX, (unsigned)(end - data));
        const struct block b = make_block(_mm512_maskz_loadu_epi8(there, data), there);
        used = take_block(values, &total, capacity, &b);
        if (!used) return VARINTS_BAD;
    }
    return total;
}
#endif
