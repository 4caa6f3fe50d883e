/* Conversion of list values to column elements: int64 and float to narrower types, and raw bytes to
 * any type. Nothing is truncated silently: values out of range are reported. */
#ifndef RECMAP_PARSE_PLAN_CONVERT_H
#define RECMAP_PARSE_PLAN_CONVERT_H

#include <recmap/feature.h>

#include <stdbool.h>

/* Returns the kind of list that an element is read from, unless it is raw: int64_list, float_list
 * or bytes_list. */
recmap_type convert_list_of(recmap_element element);

/* The range of an element read from int64_list, and its size in bytes. */
struct convert_range {
    int64_t low;
    uint64_t span; /* the highest value minus the lowest */
    size_t size;
};

struct convert_range convert_range_of(recmap_element element);

/* Converts `count` values. Returns `count`, or the index of the first value out of the element's
 * range; the elements from there on are then undefined. `element` must be read from int64_list
 * (convert_float: from float_list). Source and target may be identical if the element is not wider
 * than the value. */
size_t convert_int64(void *elements, recmap_element element, const int64_t *values, size_t count);
size_t convert_float(void *elements, recmap_element element, const float *values, size_t count);

/* The same for the elements of a bytes value, which are converted to the machine's byte order. Only
 * BOOL can be out of range. `data` may be unaligned. */
size_t convert_raw(void *elements, recmap_element element, const uint8_t *data, bool big_endian,
                   size_t count);

#endif
