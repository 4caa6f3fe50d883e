/* 128-bit products of two 64-bit numbers. */
#ifndef RECMAP_BASE_PERMUTATION_WIDE_H
#define RECMAP_BASE_PERMUTATION_WIDE_H

#include <stdint.h>

struct wide {
    uint64_t high, low;
};

static inline struct wide wide_multiply(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    return (struct wide){a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

/* The quotient of a product, rounded down. It must fit: dividend.high < divisor. */
static inline uint64_t wide_divide(struct wide dividend, uint64_t divisor, uint64_t *remainder) {
#if defined(__SIZEOF_INT128__) && !defined(RECMAP_PORTABLE)
    unsigned __int128 whole = (unsigned __int128)dividend.high << 64 | dividend.low;
    *remainder = (uint64_t)(whole % divisor);
    return (uint64_t)(whole / divisor);
#else
    uint64_t rest = dividend.high, quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t carry = rest >> 63;
        rest = rest << 1 | (dividend.low >> bit & 1);
        quotient <<= 1;
        if (carry || rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    *remainder = rest;
    return quotient;
#endif
}

/* a * b / c, rounded down or up; UINT64_MAX if it does not fit. c > 0. */
static inline uint64_t scale_down(uint64_t a, uint64_t b, uint64_t c) {
    struct wide product = wide_multiply(a, b);
    uint64_t remainder;
    return product.high < c ? wide_divide(product, c, &remainder) : UINT64_MAX;
}

static inline uint64_t scale_up(uint64_t a, uint64_t b, uint64_t c) {
    struct wide product = wide_multiply(a, b);
    if (product.high >= c) return UINT64_MAX;
    uint64_t remainder, quotient = wide_divide(product, c, &remainder);
    return quotient + (remainder && quotient != UINT64_MAX);
}

#endif
