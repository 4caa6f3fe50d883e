/* JSON numbers: their syntax and their values. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_reader.h"
#include "base/words/character.h"

/* More digits than this cannot change the nearest double; it only matters whether any of them is
 * not 0. */
enum { DIGITS_MAX = 800 };

/* Far beyond the range of doubles. */
enum { EXPONENT_MAX = 100000 };

static bool pass_digits(struct json_reader *reader) {
    const char *first = reader->at;
    while (reader->at < reader->end && is_digit(*reader->at)) reader->at++;
    return reader->at > first;
}

static bool pass(struct json_reader *reader, const char *characters) {
    if (reader->at == reader->end || !*reader->at || !strchr(characters, *reader->at)) return false;
    reader->at++;
    return true;
}

bool json_read_number(struct json_number *number, struct json_reader *reader) {
    json_peek(reader);
    const char *start = reader->at;
    pass(reader, "-");
    if (!pass(reader, "0") && !pass_digits(reader)) return false;
    if (pass(reader, ".") && !pass_digits(reader)) return false;
    if (pass(reader, "eE")) {
        pass(reader, "+-");
        if (!pass_digits(reader)) return false;
    }
    *number = (struct json_number){start, (size_t)(reader->at - start)};
    return true;
}

/* A number as digits without leading and trailing zeros, times a power of ten. */
struct decimal {
    bool is_negative;
    char digits[DIGITS_MAX + 2];
    size_t digit_count;
    int64_t exponent;
};

/* Reads the exponent after `e`. Values too large to matter are clamped. */
static int64_t read_exponent(const char *text, const char *end) {
    bool is_negative = text < end && *text == '-';
    int64_t value = 0;
    if (text < end && (*text == '-' || *text == '+')) text++;
    for (; text < end; text++)
        if (value < INT64_MAX / 100) value = value * 10 + (*text - '0');
    return is_negative ? -value : value;
}

static void take_digit(struct decimal *decimal, char digit, bool is_fraction) {
    decimal->exponent -= is_fraction;
    if (digit == '0' && !decimal->digit_count) return;
    if (decimal->digit_count < DIGITS_MAX) {
        decimal->digits[decimal->digit_count++] = digit;
        return;
    }
    decimal->exponent++;
    if (digit == '0') return;
    /* One extra digit represents all that do not fit. */
    if (decimal->digit_count == DIGITS_MAX) {
        decimal->digits[decimal->digit_count++] = '1';
        decimal->exponent--;
    }
}

static struct decimal decimal_of(const struct json_number *number) {
    const char *next = number->data, *end = next + number->size;
    struct decimal decimal = {.is_negative = *next == '-'};
    bool is_fraction = false;
    for (next += decimal.is_negative; next < end && *next != 'e' && *next != 'E'; next++) {
        if (*next == '.') is_fraction = true;
        else take_digit(&decimal, *next, is_fraction);
    }
    if (next < end) decimal.exponent += read_exponent(next + 1, end);
    while (decimal.digit_count && decimal.digits[decimal.digit_count - 1] == '0') {
        decimal.digit_count--;
        decimal.exponent++;
    }
    return decimal;
}

static bool add_digit(uint64_t *sum, uint64_t digit) {
    if (*sum > (UINT64_MAX - digit) / 10) return false;
    *sum = *sum * 10 + digit;
    return true;
}

/* The common case: neither fraction nor exponent. */
static bool add_plain(uint64_t *sum, const struct json_number *number) {
    for (size_t i = *number->data == '-'; i < number->size; i++) {
        char digit = number->data[i];
        if (digit < '0' || digit > '9') return false;
        if (!add_digit(sum, (uint64_t)(digit - '0'))) return false;
    }
    return true;
}

static bool add_any(uint64_t *sum, const struct json_number *number) {
    struct decimal decimal = decimal_of(number);
    *sum = 0;
    if (!decimal.digit_count) return true;
    if (decimal.exponent < 0 || decimal.exponent > 19) return false;
    for (size_t i = 0; i < decimal.digit_count; i++)
        if (!add_digit(sum, (uint64_t)(decimal.digits[i] - '0'))) return false;
    for (int64_t i = 0; i < decimal.exponent; i++)
        if (!add_digit(sum, 0)) return false;
    return true;
}

/* The integer without its sign. */
static bool read_size(uint64_t *sum, const struct json_number *number) {
    *sum = 0;
    return add_plain(sum, number) || add_any(sum, number);
}

bool json_number_to_int64(int64_t *value, const struct json_number *number) {
    uint64_t sum;
    bool is_negative = *number->data == '-';
    if (!read_size(&sum, number) || sum > (uint64_t)INT64_MAX + is_negative) return false;
    *value = is_negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool json_number_to_uint64(uint64_t *value, const struct json_number *number) {
    return read_size(value, number) && (*number->data != '-' || !*value);
}

/* strtod follows the locale only for the decimal point, so the text contains none. */
double json_number_to_double(const struct json_number *number) {
    struct decimal decimal = decimal_of(number);
    char text[DIGITS_MAX + 32];
    double value = 0;
    if (decimal.exponent > EXPONENT_MAX) decimal.exponent = EXPONENT_MAX;
    if (decimal.exponent < -EXPONENT_MAX) decimal.exponent = -EXPONENT_MAX;
    if (decimal.digit_count) {
        snprintf(text, sizeof text, "%.*se%" PRId64, (int)decimal.digit_count, decimal.digits,
                 decimal.exponent);
        value = strtod(text, NULL);
    }
    return copysign(value, decimal.is_negative ? -1.0 : 1.0);
}

bool json_number_to_bits(int64_t *bits, const struct json_number *number) {
    struct json_reader reader = {number->data, number->data + number->size};
    uint64_t value;
    if (!number->size || *number->data < '0' || *number->data > '9') return false;
    if (!json_read_uint64(&reader, &value) || reader.at != reader.end || value <= INT64_MAX)
        return false;
    *bits = (int64_t)value;
    return true;
}
