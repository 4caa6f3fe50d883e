/* Decoding one varint, for the steps of the bulk decoders in which several at once do not work. */
#ifndef RECMAP_PARSE_VARINTS_ONE_VARINT_H
#define RECMAP_PARSE_VARINTS_ONE_VARINT_H

#include "base/core/bytes.h"
#include "parse/varints/varints.h"

/* The number of bytes that a step of a bulk decoder reads. The last bytes of a run, fewer than
 * these, are left to take_rest. */
enum { STEP_ROOM = 16 };

#define TOP_BITS UINT64_C(0x8080808080808080)

/* Merges seven bits of each of eight bytes. */
static inline uint64_t fold8(uint64_t x) {
    x = (x & UINT64_C(0x007f007f007f007f)) | (x >> 1 & UINT64_C(0x3f803f803f803f80));
    x = (x & UINT64_C(0x00003fff00003fff)) | (x >> 2 & UINT64_C(0x0fffc0000fffc000));
    return (x & UINT64_C(0x000000000fffffff)) | (x >> 4 & UINT64_C(0x00fffffff0000000));
}

/* Decodes the first varint, of any length. At least STEP_ROOM bytes are readable, starting with
 * `word`. Returns its size, or 0 if it is malformed. */
static inline size_t take_long(int64_t *value, uint64_t word, uint64_t ends, const uint8_t *data) {
    uint64_t bits = fold8(word & (ends ^ (ends - 1)));
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

/* Decodes one varint of at most `size` bytes. Returns its size, or 0 if it is malformed. */
static inline size_t take_any(int64_t *value, const uint8_t *data, size_t size) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size && i < 10; i++) {
        bits |= (uint64_t)(data[i] & 0x7f) << (7 * i);
        if (data[i] >= 0x80) continue;
        *value = (int64_t)bits;
        return i + 1;
    }
    return 0;
}

/* Decodes the last bytes one varint at a time. */
static inline size_t take_rest(int64_t *values, size_t total, size_t capacity, const uint8_t *data,
                               size_t size) {
    while (size > 0) {
        size_t used = total < capacity ? take_any(values + total, data, size) : 0;
        if (!used) return VARINTS_BAD;
        total++;
        data += used;
        size -= used;
    }
    return total;
}

#endif
