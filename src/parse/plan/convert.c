#include "parse/plan/convert.h"

#include <string.h>

#include "base/core/bytes.h"
#include "base/core/short_float.h"

/* Values pass through a block on the stack. Source and target may therefore overlap, and a whole
 * block is checked before any of it is written. */
enum { BLOCK = 64 };

/* The only switch over element types without a default case, so that the compiler reports a new
 * type here. */
recmap_type convert_list_of(recmap_element element) {
    switch (element) {
    case RECMAP_ELEMENT_NONE: return RECMAP_TYPE_NONE;
    case RECMAP_ELEMENT_BYTES: return RECMAP_TYPE_BYTES;
    case RECMAP_ELEMENT_FLOAT32:
    case RECMAP_ELEMENT_FLOAT16:
    case RECMAP_ELEMENT_BFLOAT16:
    case RECMAP_ELEMENT_FLOAT64: return RECMAP_TYPE_FLOAT;
    case RECMAP_ELEMENT_INT64:
    case RECMAP_ELEMENT_INT32:
    case RECMAP_ELEMENT_INT16:
    case RECMAP_ELEMENT_INT8:
    case RECMAP_ELEMENT_UINT64:
    case RECMAP_ELEMENT_UINT32:
    case RECMAP_ELEMENT_UINT16:
    case RECMAP_ELEMENT_UINT8:
    case RECMAP_ELEMENT_BOOL: return RECMAP_TYPE_INT64;
    }
    return RECMAP_TYPE_NONE;
}

struct convert_range convert_range_of(recmap_element element) {
    switch (element) {
    case RECMAP_ELEMENT_INT32: return (struct convert_range){INT32_MIN, UINT32_MAX, 4};
    case RECMAP_ELEMENT_INT16: return (struct convert_range){INT16_MIN, UINT16_MAX, 2};
    case RECMAP_ELEMENT_INT8: return (struct convert_range){INT8_MIN, UINT8_MAX, 1};
    case RECMAP_ELEMENT_UINT64: return (struct convert_range){0, INT64_MAX, 8};
    case RECMAP_ELEMENT_UINT32: return (struct convert_range){0, UINT32_MAX, 4};
    case RECMAP_ELEMENT_UINT16: return (struct convert_range){0, UINT16_MAX, 2};
    case RECMAP_ELEMENT_UINT8: return (struct convert_range){0, UINT8_MAX, 1};
    case RECMAP_ELEMENT_BOOL: return (struct convert_range){0, 1, 1};
    default: return (struct convert_range){INT64_MIN, UINT64_MAX, 8};
    }
}

/* Returns the index of the first value out of range, or `count`. The first loop has no branches and
 * is vectorized; the second one runs only on failure. */
static size_t first_outside(const struct convert_range *range, const int64_t *values,
                            size_t count) {
    bool is_outside = false;
    for (size_t i = 0; i < count; i++)
        is_outside |= (uint64_t)values[i] - (uint64_t)range->low > range->span;
    if (!is_outside) return count;
    size_t i = 0;
    while ((uint64_t)values[i] - (uint64_t)range->low <= range->span) i++;
    return i;
}

/* Keeps the low bytes of each value. They include the sign, since the value is in range. */
static void narrow(void *elements, size_t size, const int64_t *values, size_t count) {
    union {
        uint8_t bytes[BLOCK];
        uint16_t words[BLOCK];
        uint32_t doubles[BLOCK];
    } made;
    switch (size) {
    case 1:
        for (size_t i = 0; i < count; i++) made.bytes[i] = (uint8_t)values[i];
        break;
    case 2:
        for (size_t i = 0; i < count; i++) made.words[i] = (uint16_t)values[i];
        break;
    case 4:
        for (size_t i = 0; i < count; i++) made.doubles[i] = (uint32_t)values[i];
        break;
    default: memcpy(elements, values, 8 * count); return;
    }
    memcpy(elements, &made, size * count);
}

size_t convert_int64(void *elements, recmap_element element, const int64_t *values, size_t count) {
    const struct convert_range r = convert_range_of(element);
    int64_t block[BLOCK];
    if (element == RECMAP_ELEMENT_INT64) {
        if (count) memmove(elements, values, 8 * count);
        return count;
    }
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t some = count - i < BLOCK ? count - i : BLOCK;
        memcpy(block, values + i, 8 * some);
        size_t good = first_outside(&r, block, some);
        if (good < some) return i + good;
        narrow((uint8_t *)elements + i * r.size, r.size, block, some);
    }
    return count;
}

/* Returns the index of the first finite value that would round to infinity, or `count`. */
static size_t first_too_large(const uint32_t *bits, uint32_t limit, size_t count) {
    bool is_large = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t size = bits[i] & 0x7fffffff;
        is_large |= (size >= limit) & (size < FLOAT_INFINITE);
    }
    if (!is_large) return count;
    for (size_t i = 0; i < count; i++) {
        uint32_t size = bits[i] & 0x7fffffff;
        if (size >= limit && size < FLOAT_INFINITE) return i;
    }
    return count;
}

/* The smallest floats that round to infinity. */
enum { HALF_LIMIT = 0x477ff000, BFLOAT_LIMIT = 0x7f7f8000 };

static size_t convert_short_floats(void *elements, bool is_half, const float *values,
                                   size_t count) {
    uint32_t bits[BLOCK];
    uint16_t made[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t some = count - i < BLOCK ? count - i : BLOCK;
        memcpy(bits, values + i, 4 * some);
        size_t good = first_too_large(bits, is_half ? HALF_LIMIT : BFLOAT_LIMIT, some);
        if (good < some) return i + good;
        if (is_half)
            for (size_t j = 0; j < some; j++) made[j] = float16_of_float(bits[j]);
        else
            for (size_t j = 0; j < some; j++) made[j] = bfloat16_of_float(bits[j]);
        memcpy((uint8_t *)elements + 2 * i, made, 2 * some);
    }
    return count;
}

size_t convert_float(void *elements, recmap_element element, const float *values, size_t count) {
    if (element == RECMAP_ELEMENT_FLOAT16 || element == RECMAP_ELEMENT_BFLOAT16)
        return convert_short_floats(elements, element == RECMAP_ELEMENT_FLOAT16, values, count);
    if (element == RECMAP_ELEMENT_FLOAT64) {
        double *doubles = elements;
        for (size_t i = 0; i < count; i++) doubles[i] = values[i];
        return count;
    }
    if (count) memmove(elements, values, 4 * count);
    return count;
}

/* The size of an element in a raw bytes value. */
static size_t raw_size(recmap_element element) {
    switch (element) {
    case RECMAP_ELEMENT_FLOAT16:
    case RECMAP_ELEMENT_BFLOAT16: return 2;
    case RECMAP_ELEMENT_FLOAT32: return 4;
    case RECMAP_ELEMENT_FLOAT64: return 8;
    default: return convert_range_of(element).size;
    }
}

static void copy_raw(uint8_t *elements, size_t size, const uint8_t *data, bool big_endian,
                     size_t count) {
    bool machine_is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (big_endian == machine_is_big_endian) {
        if (count) memmove(elements, data, count * size);
        return;
    }
    for (size_t i = 0; i < count * size; i++) elements[i] = data[i ^ (size - 1)];
}

size_t convert_raw(void *elements, recmap_element element, const uint8_t *data, bool big_endian,
                   size_t count) {
    if (element == RECMAP_ELEMENT_BOOL) {
        uint8_t all = 0;
        for (size_t i = 0; i < count; i++) all |= data[i];
        for (size_t i = 0; all > 1 && i < count; i++)
            if (data[i] > 1) return i;
    }
    copy_raw(elements, raw_size(element), data, big_endian, count);
    return count;
}
