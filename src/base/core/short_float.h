/* float16 and bfloat16 from the bits of a float. */
#ifndef RECMAP_BASE_CORE_SHORT_FLOAT_H
#define RECMAP_BASE_CORE_SHORT_FLOAT_H

#include <stdint.h>
#include <string.h>

enum { FLOAT_INFINITE = 0x7f800000, HALF_INFINITE = 0x7c00, BFLOAT_INFINITE = 0x7f80 };

/* Rounds the bits of a float to the nearest float16, ties to even. Normal values add half of the
 * last kept bit before shifting. Small ones add a float whose last bit has the value of a float16's
 * last bit, so that the addition itself rounds. Values that are too large become infinite; a NaN
 * stays a (quiet) NaN. */
static inline uint16_t float16_of_float(uint32_t bits) {
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    uint32_t rounded = (size + 0xfff + (size >> 13 & 1)) - ((127 - 15) << 23);
    uint32_t normal = rounded >> 13;
    float small, magic = 0.5f;
    memcpy(&small, &size, sizeof small);
    small += magic;
    uint32_t small_bits;
    memcpy(&small_bits, &small, sizeof small_bits);
    uint32_t subnormal = small_bits - 0x3f000000;
    uint32_t made = size < (113 << 23) ? subnormal : normal;
    made = size >= 0x477ff000 ? HALF_INFINITE : made;
    made = size > FLOAT_INFINITE ? 0x7e00 | (size >> 13 & 0x1ff) : made;
    return (uint16_t)(sign | made);
}

/* The same for bfloat16, the upper half of a float. */
static inline uint16_t bfloat16_of_float(uint32_t bits) {
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffff) > FLOAT_INFINITE ? quiet : rounded);
}

#endif
