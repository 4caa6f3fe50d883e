/* From what lists hold to what columns hold: int64 and float into narrower elements, and raw bytes
 * into any. Nothing is cut: what does not fit is found. */
#ifndef RECMAP_PLAN_CONVERT_H
#define RECMAP_PLAN_CONVERT_H

#include <recmap/feature.h>

#include <stdbool.h>

/* Whether an element comes from int64_list, float_list or bytes_list, raw aside. */
recmap_type convert_list_of(recmap_element element);

/* What an element that comes from int64_list can hold, and its bytes. */
struct convert_range {
    int64_t low;
    uint64_t span; /* the highest less the lowest */
    size_t size;
};

struct convert_range convert_range_of(recmap_element element);

/* Writes `count` elements. Returns `count`, or the index of the first value that the element cannot
 * hold; what is behind it is undefined then. `element` is one that comes from int64_list (floats:
 * from float_list). Works in place where source and target are the same and the element is no
 * wider. */
size_t convert_int64(void *elements, recmap_element element, const int64_t *values, size_t count);
size_t convert_float(void *elements, recmap_element element, const float *values, size_t count);

/* The same for the elements of a bytes value, converted to the machine's byte order. Only BOOL can
 * fail. `data` need not be aligned. */
size_t convert_raw(void *elements, recmap_element element, const uint8_t *data, bool big_endian,
                   size_t count);

#endif
