#include "base/text/rounding.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_far(double number) {
    double size = fabs(number), narrow = (double)(float)number;
    return number != narrow && ((size > 0x1p24 && size < 0x1p64) || narrow == 0);
}

/* Returns true if what is left of the integer without trailing zeros needs more bits. */
static bool needs_more_bits(int64_t integer, int bits) {
    uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    return size && size >> __builtin_ctzll(size) >= UINT64_C(1) << bits;
}

bool rounding_is_far_double(int64_t integer) {
    return needs_more_bits(integer, DBL_MANT_DIG);
}

bool rounding_is_far_json(const struct json_number *number) {
    int64_t integer;
    if (json_number_to_int64(&integer, number)) return needs_more_bits(integer, FLT_MANT_DIG);
    return is_far(json_number_to_double(number));
}

/* Numbers of at most 6 digits, which most scores are, need no closer look. */
bool rounding_is_none_json(const struct json_number *number) {
    int64_t integer;
    if (number->size <= FLT_DIG + 1 && !memchr(number->data, 'e', number->size) &&
        !memchr(number->data, 'E', number->size))
        return true;
    if (json_number_to_int64(&integer, number)) return !needs_more_bits(integer, FLT_MANT_DIG);
    double decimal = json_number_to_double(number);
    float narrow = (float)decimal;
    return (double)narrow == decimal || rounding_is_shortest(number, narrow);
}

/* printf and strtod follow the same locale. */
bool rounding_is_shortest(const struct json_number *number, float value) {
    enum { DIGITS_MIN = 6, DIGITS_MAX = 9 };
    double decimal = json_number_to_double(number);
    for (int count = DIGITS_MIN; count <= DIGITS_MAX; count++) {
        char text[32];
        snprintf(text, sizeof text, "%.*e", count - 1, (double)value);
        double back = strtod(text, NULL);
        if ((float)back == value) return back == decimal;
    }
    return false;
}
