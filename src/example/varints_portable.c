/* Eight bytes a step: one load tells where the varints in them end, and all that end are taken
 * without a look at how long each of them is, four side by side. */
#include "base/bytes.h"
#include "example/varints.h"

#define TOP_BITS UINT64_C(0x8080808080808080)

/* A step reads so many bytes: a varint that is not there is read from behind the eighth. */
enum { STEP_ROOM = 12 };

/* Four words of four bytes, numbers 0 and 2, 1 and 3: then zeros in front of them make values of
 * eight bytes without moving any. Compilers make one register of it where there are such, and plain
 * code elsewhere. */
typedef uint64_t lanes __attribute__((vector_size(16)));

/* The bytes of `word` up to the first end in it, seven bits of each brought together. */
static inline uint64_t fold8(uint64_t word, uint64_t ends) {
    uint64_t x = word & (ends ^ (ends - 1));
    x = (x & UINT64_C(0x007f007f007f007f)) | (x >> 1 & UINT64_C(0x3f803f803f803f80));
    x = (x & UINT64_C(0x00003fff00003fff)) | (x >> 2 & UINT64_C(0x0fffc0000fffc000));
    return (x & UINT64_C(0x000000000fffffff)) | (x >> 4 & UINT64_C(0x00fffffff0000000));
}

/* The same for each of four words. What has no end gives anything, and spoils its neighbour of a
 * higher number. */
static inline lanes fold4(lanes x) {
    lanes ends = ~x & TOP_BITS;
    x &= ends ^ (ends - UINT64_C(0x0000000100000001));
    x = (x & UINT64_C(0x007f007f007f007f)) | (x >> 1 & UINT64_C(0x3f803f803f803f80));
    return (x & UINT64_C(0x00003fff00003fff)) | (x >> 2 & UINT64_C(0x0fffc0000fffc000));
}

static inline uint64_t two_words(const uint8_t *low, const uint8_t *high) {
    return load32(low) | (uint64_t)load32(high) << 32;
}

/* Where the varint behind the first end begins, and that end taken away. */
static inline size_t next_start(uint64_t *ends) {
    size_t start = (unsigned)__builtin_ctzll(*ends) / 8 + 1;
    *ends &= *ends - 1;
    return start;
}

/* The same where perhaps nothing ends. */
static inline size_t perhaps_start(uint64_t *ends) {
    size_t start = (unsigned)__builtin_ctzll(*ends | UINT64_C(1) << 63) / 8 + 1;
    *ends &= *ends - 1;
    return start;
}

/* Four varints of at most four bytes. */
static inline void store_four(int64_t *values, const uint8_t *data, size_t start, size_t second,
                              size_t third, size_t fourth) {
    lanes folded = fold4(
        (lanes){two_words(data + start, data + third), two_words(data + second, data + fourth)});
    lanes low = folded & 0xffffffff, high = folded >> 32;
    memcpy(values, &low, sizeof low);
    memcpy(values + 2, &high, sizeof high);
}

/* All that end in a word: at least two, since none is longer. */
static inline void take_short(int64_t *values, const uint8_t *data, uint64_t ends, size_t count) {
    size_t second = next_start(&ends), third = next_start(&ends), fourth = perhaps_start(&ends);
    store_four(values, data, 0, second, third, fourth);
    if (count <= 4) return;
    size_t fifth = next_start(&ends), sixth = next_start(&ends), seventh = perhaps_start(&ends);
    store_four(values + 4, data, fifth, sixth, seventh, perhaps_start(&ends));
}

static inline size_t count_ends(uint64_t ends) {
    return (size_t)((ends >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Whether four bytes in a row do not end a varint: it is longer than what take_short takes. */
static inline bool has_long(uint64_t ends) {
    uint64_t more = ~ends & TOP_BITS, pairs = more & more >> 8;
    return pairs & pairs >> 16;
}

/* One varint within `size` bytes: how many bytes it has, 0 for a bad one. */
static size_t take_any(int64_t *value, const uint8_t *data, size_t size) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size && i < 10; i++) {
        bits |= (uint64_t)(data[i] & 0x7f) << (7 * i);
        if (data[i] >= 0x80) continue;
        *value = (int64_t)bits;
        return i + 1;
    }
    return 0;
}

/* The same where there are at least STEP_ROOM bytes, which begin with `word`. */
static inline size_t take_long(int64_t *value, uint64_t word, uint64_t ends, const uint8_t *data) {
    uint64_t bits = fold8(word, ends);
    size_t size = ends ? (size_t)__builtin_ctzll(ends) / 8 + 1 : 9;
    if (!ends) {
        bits |= (uint64_t)(data[8] & 0x7f) << 56;
        if (data[8] >= 0x80) {
            if (data[9] >= 0x80) return 0;
            bits |= (uint64_t)data[9] << 63;
            size = 10;
        }
    }
    *value = (int64_t)bits;
    return size;
}

size_t varints_portable(int64_t *values, size_t capacity, const uint8_t *data, size_t size) {
    size_t total = 0;
    while (size >= STEP_ROOM) {
        uint64_t word = load64(data), ends = ~word & TOP_BITS;
        size_t count = 1, used;
        if (has_long(ends)) {
            used = total < capacity ? take_long(values + total, word, ends, data) : 0;
            if (!used) return VARINTS_BAD;
        } else {
            used = (63 ^ (unsigned)__builtin_clzll(ends)) / 8 + 1;
            count = count_ends(ends);
            if (count > capacity - total) return VARINTS_BAD;
            take_short(values + total, data, ends, count);
        }
        total += count;
        data += used;
        size -= used;
    }
    while (size > 0) {
        size_t used = total < capacity ? take_any(values + total, data, size) : 0;
        if (!used) return VARINTS_BAD;
        total++;
        data += used;
        size -= used;
    }
    return total;
}
