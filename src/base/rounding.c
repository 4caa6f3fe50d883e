#include "base/rounding.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool rounding_is_far(double number) {
    double size = fabs(number), narrow = (double)(float)number;
    return number != narrow && ((size > 0x1p24 && size < 0x1p64) || narrow == 0);
}

/* A float has 24 bits for what is left without trailing zeros. */
bool rounding_is_far_int64(int64_t integer) {
    uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    return size && size >> __builtin_ctzll(size) >= UINT64_C(1) << FLT_MANT_DIG;
}

bool rounding_is_far_json(const struct json_number *number) {
    int64_t integer;
    if (json_number_to_int64(&integer, number)) return rounding_is_far_int64(integer);
    return rounding_is_far(json_number_to_double(number));
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
