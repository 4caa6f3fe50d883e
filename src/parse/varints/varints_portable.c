/* Processes eight bytes per step: one load shows where varints end, and all that end there are
 * decoded without branching on their lengths, four side by side. */
#include "base/core/bytes.h"
#include "parse/varints/one_varint.h"
#include "parse/varints/varints.h"

/* A step reads STEP_ROOM bytes: lanes without a varint load past the eighth byte, and the next
 * step's word is loaded too. */

/* Four words of four bytes and two of eight. Compilers use vector registers for them if there are
 * any, and plain code otherwise. */
typedef uint32_t lanes __attribute__((vector_size(16)));
typedef uint64_t wide_lanes __attribute__((vector_size(16)));

/* In each of four words, merges seven bits of each byte up to the first one that ends a varint. The
 * result is arbitrary if none does. */
static inline lanes fold4(lanes x) {
    lanes ends = ~x & 0x80808080;
    x &= ends ^ (ends - 1);
    x = (x & 0x007f007f) | (x >> 1 & 0x3f803f80);
    return (x & 0x00003fff) | (x >> 2 & 0x0fffc000);
}

/* Returns where the varint after the first end starts, and clears that end. */
static inline size_t next_start(uint64_t *ends) {
    size_t start = (size_t)((unsigned)__builtin_ctzll(*ends) / 8) + 1;
    *ends &= *ends - 1;
    return start;
}

/* Like next_start, but allows `ends` to be empty. */
static inline size_t perhaps_start(uint64_t *ends) {
    size_t start = (size_t)((unsigned)__builtin_ctzll(*ends | UINT64_C(1) << 63) / 8) + 1;
    *ends &= *ends - 1;
    return start;
}

static inline size_t count_ends(uint64_t ends) {
    return (size_t)((ends >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Decodes four varints of at most four bytes. The second and third trade places, so that masking
 * and shifting the 8-byte lanes widens the values without moving them. */
static inline void store_four(int64_t *values, const uint8_t *data, size_t start, size_t second,
                              size_t third, size_t fourth) {
    const lanes folded = fold4((lanes){load32(data + start), load32(data + third),
                                       load32(data + second), load32(data + fourth)});
    wide_lanes both = (wide_lanes)folded;
    wide_lanes low = both & 0xffffffff, high = both >> 32;
    bool is_swapped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    memcpy(values, is_swapped ? &high : &low, sizeof low);
    memcpy(values + 2, is_swapped ? &low : &high, sizeof high);
}

/* Decodes all varints that end in a step. None is longer than four bytes, so there are at least
 * two. */
static inline void take_short(int64_t *values, const uint8_t *data, uint64_t ends, size_t count) {
    size_t second = next_start(&ends), third = next_start(&ends), fourth = perhaps_start(&ends);
    store_four(values, data, 0, second, third, fourth);
    if (count <= 4) return;
    size_t fifth = next_start(&ends), sixth = next_start(&ends), seventh = perhaps_start(&ends);
    store_four(values + 4, data, fifth, sixth, seventh, perhaps_start(&ends));
}

/* `ends` has a bit for each byte of the step that ends a varint. If four bytes in a row do not, a
 * varint is longer than four bytes: then the first one is decoded by itself, otherwise all that end
 * in the step at once. */
size_t varints_portable(int64_t *values, size_t capacity, const uint8_t *data, size_t size) {
    size_t total = 0, used;
    uint64_t word = size >= STEP_ROOM ? load64(data) : 0;
    while (size >= STEP_ROOM) {
        uint64_t more = word & TOP_BITS, ends = more ^ TOP_BITS, pairs = more & more >> 8;
        if (pairs & pairs >> 16) {
            used = total < capacity ? take_long(values + total, word, ends, data) : 0;
            if (!used) return VARINTS_BAD;
            word = size - used >= 8 ? load64(data + used) : 0;
            total++;
        } else {
            /* Load the word that the next step depends on before storing this step's values: 1,024
             * token ids then take 1.4 us instead of 1.8. */
            used = (63 ^ (unsigned)__builtin_clzll(ends)) / 8 + 1;
            word = load64(data + used);
            size_t count = count_ends(ends);
            if (count > capacity - total) return VARINTS_BAD;
            take_short(values + total, data, ends, count);
            total += count;
        }
        data += used;
        size -= used;
    }
    return take_rest(values, total, capacity, data, size);
}
