/* Reads numbers of at most eight characters, as most are, without a loop: how long each of them is
 * cannot be predicted, so the end of a loop costs more than the digits. */
#ifndef RECMAP_BASE_TEXT_SHORT_NUMBER_H
#define RECMAP_BASE_TEXT_SHORT_NUMBER_H

#include <stdbool.h>

#include "base/core/bytes.h"

enum { SHORT_NUMBER_MAX = 8 };

/* Reads the first `size` bytes, 1 to 8, as digits. Other bytes are moved out of the word, and the
 * digits moved up, so that zeros precede them. Then pairs of digits become one number each, then
 * pairs of these. Returns false if a byte is not a digit. */
static inline bool short_digits(uint64_t *value, uint64_t bytes, size_t size) {
    uint64_t digits = (bytes ^ UINT64_C(0x3030303030303030)) << (64 - 8 * size);
    uint64_t beyond = (digits + UINT64_C(0x7676767676767676)) | digits;
    digits = digits * 10 + (digits >> 8);
    uint64_t even = (digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064);
    uint64_t odd = (digits >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001);
    *value = (even + odd) >> 32;
    return !(beyond & UINT64_C(0x8080808080808080));
}

/* Reads [-]digits. `end` is that of the bytes that may be read, which follow the text. Returns
 * false for other texts, longer ones, and those too close to the end. */
static inline bool short_int64(int64_t *value, const char *text, size_t size, const char *end) {
    if (end - text <= SHORT_NUMBER_MAX) return false;
    bool is_negative = *text == '-';
    uint64_t number;
    size -= is_negative;
    if (size - 1 >= SHORT_NUMBER_MAX) return false;
    if (!short_digits(&number, load64(text + is_negative), size)) return false;
    *value = is_negative ? -(int64_t)number : (int64_t)number;
    return true;
}

/* The same for [-]digits[.digits], where one side of the point may be empty. The result is the
 * nearest double: digits and powers of ten up to 10^8 are exact, and one division rounds. */
static inline bool short_double(double *value, const char *text, size_t size, const char *end) {
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    if (end - text <= SHORT_NUMBER_MAX) return false;
    bool is_negative = *text == '-';
    size -= is_negative;
    if (size - 1 >= SHORT_NUMBER_MAX) return false;
    uint64_t bytes = load64(text + is_negative), number;
    uint64_t points = bytes ^ UINT64_C(0x2e2e2e2e2e2e2e2e);
    points = (points - UINT64_C(0x0101010101010101)) & ~points & UINT64_C(0x8080808080808080);
    size_t place = points ? (size_t)__builtin_ctzll(points) / 8 : SHORT_NUMBER_MAX, fraction = 0;
    if (place < size) {
        uint64_t before = (UINT64_C(1) << 8 * place) - 1;
        bytes = (bytes & before) | (bytes >> 8 & ~before);
        if (!--size) return false;
        fraction = size - place;
    }
    if (!short_digits(&number, bytes, size)) return false;
    *value = (double)number / powers[fraction];
    if (is_negative) *value = -*value;
    return true;
}

#endif
