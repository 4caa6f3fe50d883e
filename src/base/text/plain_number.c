#include "base/text/plain_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/json_reader.h"
#include "base/text/short_number.h"
#include "base/words/character.h"

/* Reads digits that always fit into 64 bits. */
static bool read_short(uint64_t *sum, const char *at, const char *end) {
    bool are_digits = true;
    for (*sum = 0; at < end; at++) {
        unsigned digit = (unsigned char)*at - (unsigned)'0';
        are_digits &= digit <= 9;
        *sum = *sum * 10 + digit;
    }
    return are_digits;
}

static bool read_long(uint64_t *sum, const char *at, const char *end, uint64_t limit) {
    for (*sum = 0; at < end; at++) {
        unsigned digit = (unsigned char)*at - (unsigned)'0';
        if (digit > 9 || digit > limit || *sum > (limit - digit) / 10) return false;
        *sum = *sum * 10 + digit;
    }
    return true;
}

/* Reads the digits after the sign, up to the limit, or up to that of negative numbers. */
static bool read_integer(uint64_t *sum, bool *is_negative, const char *text, size_t size,
                         uint64_t limit, uint64_t negative_limit) {
    enum { SHORT_MAX = 18 };
    const char *at = text, *end = text + size;
    *is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    if (*is_negative) limit = negative_limit;
    if (end - at > SHORT_MAX) return read_long(sum, at, end, limit);
    return read_short(sum, at, end) && *sum <= limit;
}

bool plain_int64(int64_t *value, const char *text, size_t size) {
    const uint64_t limit = INT64_MAX;
    uint64_t sum;
    bool is_negative;
    if (!read_integer(&sum, &is_negative, text, size, limit, limit + 1)) return false;
    *value = is_negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool plain_uint64(uint64_t *value, const char *text, size_t size) {
    bool is_negative;
    return read_integer(value, &is_negative, text, size, UINT64_MAX, 0);
}

/* A number as an integer times a power of ten. */
struct decimal {
    uint64_t digits;  /* the first DIGITS_MAX of them */
    int digit_count;  /* all digits, without leading zeros */
    int64_t exponent; /* if there are at most DIGITS_MAX */
    bool is_negative;
    const char *first; /* the text after a plus sign */
};

/* As many digits as a uint64_t always holds. */
enum { DIGITS_MAX = 19, EXPONENT_MAX = 1 << 20 };

/* Adds the digits at `*at`. Returns how many there are. */
static int64_t add_digits(struct decimal *decimal, const char **at, const char *end) {
    const char *first = *at;
    for (; *at < end && is_digit(**at); ++*at) {
        if (decimal->digit_count < DIGITS_MAX)
            decimal->digits = decimal->digits * 10 + (uint64_t)(**at - '0');
        if (decimal->digits && decimal->digit_count <= DIGITS_MAX) decimal->digit_count++;
    }
    return *at - first;
}

static bool add_exponent(struct decimal *decimal, const char *at, const char *end) {
    bool is_negative = at < end && *at == '-';
    int64_t exponent = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    for (; at < end && is_digit(*at); at++)
        if (exponent < EXPONENT_MAX) exponent = exponent * 10 + (*at - '0');
    decimal->exponent += is_negative ? -exponent : exponent;
    return at == end;
}

static bool read_decimal(struct decimal *decimal, const char *text, size_t size) {
    const char *at = text, *end = text + size;
    *decimal = (struct decimal){.is_negative = at < end && *at == '-'};
    decimal->first = text + (size && *text == '+');
    if (at < end && (*at == '-' || *at == '+')) at++;
    int64_t count = add_digits(decimal, &at, end);
    if (at < end && *at == '.') {
        at++;
        int64_t fraction = add_digits(decimal, &at, end);
        decimal->exponent = -fraction;
        count += fraction;
    }
    if (!count) return false;
    if (at == end) return true;
    return (*at == 'e' || *at == 'E') && add_exponent(decimal, at + 1, end);
}

static bool read_word(double *value, const char *text, size_t size) {
    bool is_negative = size && *text == '-';
    if (size && (*text == '-' || *text == '+')) text++, size--;
    if (size == 3 && !strncasecmp(text, "nan", 3)) *value = NAN;
    else if ((size == 3 && !strncasecmp(text, "inf", 3)) ||
             (size == 8 && !strncasecmp(text, "infinity", 8)))
        *value = INFINITY;
    else return false;
    if (is_negative) *value = -*value;
    return true;
}

/* If the digits and the power of ten are both exact as doubles, one operation rounds as the nearest
 * double does (Clinger, "How to read floating point numbers accurately"). */
static bool scale(double *value, const struct decimal *decimal) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (decimal->digit_count > DIGITS_MAX || decimal->digits > UINT64_C(1) << 53 ||
        decimal->exponent < -22 || decimal->exponent > 22)
        return false;
    double digits = (double)decimal->digits;
    double size = decimal->exponent < 0 ? digits / powers[-decimal->exponent]
                                        : digits * powers[decimal->exponent];
    *value = decimal->is_negative ? -size : size;
    return true;
}

/* Writes the number without a decimal point, which is what strtod reads differently in some
 * locales. Returns false if it has too many digits. */
static bool write_decimal(char *text, size_t capacity, const struct decimal *decimal) {
    if (decimal->digit_count > DIGITS_MAX) return false;
    int64_t exponent = decimal->exponent;
    if (exponent > EXPONENT_MAX) exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX) exponent = -EXPONENT_MAX;
    snprintf(text, capacity, "%s%" PRIu64 "e%" PRId64, decimal->is_negative ? "-" : "",
             decimal->digits, exponent);
    return true;
}

static struct json_number rest_of(const struct decimal *decimal, const char *text, size_t size) {
    return (struct json_number){decimal->first, size - (size_t)(decimal->first - text)};
}

bool plain_double(double *value, const char *text, size_t size) {
    struct decimal decimal;
    char rewritten[64];
    if (!read_decimal(&decimal, text, size)) return read_word(value, text, size);
    if (scale(value, &decimal)) return true;
    if (write_decimal(rewritten, sizeof rewritten, &decimal)) {
        *value = strtod(rewritten, NULL);
        return true;
    }
    struct json_number number = rest_of(&decimal, text, size);
    *value = json_number_to_double(&number);
    return true;
}

/* Returns true if a double that was rounded may round to another float than the number itself:
 * only if it lies in the middle between two floats, or below the normal ones. */
static bool is_between(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x1fffffff) == 0x10000000 || (value != 0 && fabs(value) < 0x1p-126);
}

/* The float nearest to a number whose nearest double is known. */
static float round_double(double number, const char *text, size_t size) {
    struct decimal decimal;
    char rewritten[64];
    if (is_between(number) && read_decimal(&decimal, text, size) &&
        write_decimal(rewritten, sizeof rewritten, &decimal))
        return strtof(rewritten, NULL);
    return (float)number;
}

bool plain_float_within(float *value, const char *text, size_t size, const char *end) {
    double number;
    if (!short_double(&number, text, size, end) && !plain_double(&number, text, size)) return false;
    *value = round_double(number, text, size);
    return true;
}

bool plain_float(float *value, const char *text, size_t size) {
    return plain_float_within(value, text, size, text + size);
}
