#include "base/text/base64.h"

#include <assert.h>

/* The value of each character, or -1 if it is invalid. */
/* clang-format off */
static const int8_t digits[128] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 62, -1, 62, -1, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, -1, -1, -1, -1, -1, -1,
    -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, -1, -1, -1, -1, 63,
    -1, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, -1, -1, -1, -1, -1
};
/* clang-format on */

size_t base64_capacity(size_t size) {
    return size / 4 * 3 + 3;
}

static int digit_of(char c) {
    unsigned char index = (unsigned char)c;
    return index < 128 ? digits[index] : -1;
}

/* Returns the number of characters before the padding, which must be complete or absent. */
static size_t without_padding(const char *text, size_t size) {
    if (size % 4) return size;
    if (size && text[size - 1] == '=') size--;
    if (size && size % 4 == 3 && text[size - 1] == '=') size--;
    return size;
}

size_t base64_decode(uint8_t *bytes, size_t *fault, const char *text, size_t size) {
    size_t count = without_padding(text, size), filled = 0;
    for (size_t i = 0; i < count; i += 4) {
        size_t here = count - i < 4 ? count - i : 4;
        uint32_t group = 0;
        for (size_t k = 0; k < here; k++) {
            int digit = digit_of(text[i + k]);
            if (digit < 0) {
                *fault = i + k;
                return SIZE_MAX;
            }
            group |= (uint32_t)digit << (18 - 6 * k);
        }
        /* A single character does not encode a byte. */
        if (here == 1) {
            *fault = i;
            return SIZE_MAX;
        }
        for (size_t k = 0; k + 1 < here; k++) bytes[filled++] = (uint8_t)(group >> (16 - 8 * k));
    }
    assert(filled <= base64_capacity(size));
    return filled;
}
