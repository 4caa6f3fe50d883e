/* Decodes four varints per step from the next 16 bytes, which contain at least four unless one has
 * more than four bytes. */
#include "parse/varints/varints.h"

#ifdef VARINTS_NEON
#include <arm_neon.h>

#include "parse/varints/one_varint.h"

/* Masks have four bits for each of 16 bytes. These are the highest ones. */
#define NIBBLE_TOPS UINT64_C(0x8888888888888888)

/* The set bits are the highest of the four of each byte that is not the last of a varint. */
static inline uint64_t find_more(uint8x16_t bytes) {
    uint8x16_t is_more = vcltzq_s8(vreinterpretq_s8_u8(bytes));
    uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(is_more), 4);
    return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & NIBBLE_TOPS;
}

/* Returns where the varint after the first end starts, and clears that end. */
static inline size_t next_start(uint64_t *ends) {
    size_t start = (size_t)__builtin_ctzll(*ends) / 4 + 1;
    *ends &= *ends - 1;
    return start;
}

/* In each of four words, merges seven bits of each byte up to the first one that ends a varint. */
static inline uint32x4_t fold4(uint32x4_t x) {
    uint32x4_t ends = vbicq_u32(vdupq_n_u32(0x80808080), x);
    uint32x4_t own = veorq_u32(ends, vaddq_u32(ends, vdupq_n_u32(UINT32_MAX)));
    x = vandq_u32(vandq_u32(x, own), vdupq_n_u32(0x7f7f7f7f));
    uint16x8_t pairs = vreinterpretq_u16_u32(x);
    x = vreinterpretq_u32_u16(vsliq_n_u16(pairs, vshrq_n_u16(pairs, 8), 7));
    return vsliq_n_u32(x, vshrq_n_u32(x, 16), 14);
}

static inline void store_wide(int64_t *values, uint32x4_t words) {
    vst1q_s64(values, vreinterpretq_s64_u64(vmovl_u32(vget_low_u32(words))));
    vst1q_s64(values + 2, vreinterpretq_s64_u64(vmovl_high_u32(words)));
}

/* Decodes four varints of at most four bytes. Returns how many bytes they have. */
static inline size_t take_four(int64_t *values, const uint8_t *data, uint64_t ends) {
    size_t second = next_start(&ends), third = next_start(&ends), fourth = next_start(&ends);
    const uint32_t words[4] = {load32(data), load32(data + second), load32(data + third),
                               load32(data + fourth)};
    store_wide(values, fold4(vld1q_u32(words)));
    return next_start(&ends);
}

/* Decodes 16 varints of one byte. */
static inline void take_bytes(int64_t *values, uint8x16_t bytes) {
    uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    store_wide(values, vmovl_u16(vget_low_u16(low)));
    store_wide(values + 4, vmovl_high_u16(low));
    store_wide(values + 8, vmovl_u16(vget_low_u16(high)));
    store_wide(values + 12, vmovl_high_u16(high));
}

/* Decodes the first varint, of any length. Returns its size, or 0 if it is malformed. */
static inline size_t take_first(int64_t *value, const uint8_t *data) {
    uint64_t word = load64(data);
    return take_long(value, word, (word & TOP_BITS) ^ TOP_BITS, data);
}

/* The bytes that are left, and the values. */
struct run {
    const uint8_t *data;
    size_t size;
    int64_t *values;
    size_t total, capacity;
};

static inline void advance(struct run *run, size_t count, size_t used) {
    run->total += count;
    run->data += used;
    run->size -= used;
}

/* Decodes varints one at a time until one has at most four bytes. Returns false if one is
 * malformed. */
static inline bool take_until_short(struct run *run) {
    size_t used;
    do {
        if (run->total == run->capacity) return false;
        used = take_first(run->values + run->total, run->data);
        advance(run, 1, used);
    } while (used > 4 && run->size >= STEP_ROOM);
    return used > 0;
}

/* A step writes at most 16 values, which fit into the slack whatever the capacity is. */
size_t varints_neon(int64_t *values, size_t capacity, const uint8_t *data, size_t size) {
    struct run run = {data, size, values, 0, capacity};
    while (run.size >= STEP_ROOM) {
        uint8x16_t bytes = vld1q_u8(run.data);
        uint64_t more = find_more(bytes), pairs = more & more >> 4;
        if (!more) {
            take_bytes(values + run.total, bytes);
            advance(&run, sizeof bytes, sizeof bytes);
        } else if (pairs & pairs >> 8) {
            if (!take_until_short(&run)) return VARINTS_BAD;
        } else {
            advance(&run, 4, take_four(values + run.total, run.data, more ^ NIBBLE_TOPS));
        }
        if (run.total > capacity) return VARINTS_BAD;
    }
    return take_rest(values, run.total, capacity, run.data, run.size);
}
#endif
