#include "base/text/natural.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/words/character.h"

static size_t digit_count(const char *text) {
    size_t count = 0;
    while (is_digit(text[count])) count++;
    return count;
}

/* Compares two runs of digits as numbers of any size: without leading zeros, the longer one is
 * larger. */
static int compare_numbers(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t a_zeros = 0, b_zeros = 0;
    while (a_zeros < a_size && a[a_zeros] == '0') a_zeros++;
    while (b_zeros < b_size && b[b_zeros] == '0') b_zeros++;
    size_t a_length = a_size - a_zeros, b_length = b_size - b_zeros;
    if (a_length != b_length) return a_length < b_length ? -1 : 1;
    int order = memcmp(a + a_zeros, b + b_zeros, a_length);
    if (order) return order;
    return (a_size > b_size) - (a_size < b_size);
}

int natural_compare(const char *a, const char *b) {
    for (;;) {
        if (is_digit(*a) && is_digit(*b)) {
            size_t a_size = digit_count(a), b_size = digit_count(b);
            int order = compare_numbers(a, a_size, b, b_size);
            if (order) return order;
            a += a_size;
            b += b_size;
            continue;
        }
        unsigned char left = (unsigned char)*a, right = (unsigned char)*b;
        if (left != right) return left < right ? -1 : 1;
        if (!left) return 0;
        a++;
        b++;
    }
}
