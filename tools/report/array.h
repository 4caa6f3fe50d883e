/* Pictures stored as raw arrays of bytes: two dimensions, or three of which the last are channels.
 */
#ifndef RECMAP_TOOLS_REPORT_ARRAY_H
#define RECMAP_TOOLS_REPORT_ARRAY_H

#include <recmap/example.h>

#include "report/html.h"

/* The shape of the arrays in one record, as its other features give it: a feature "shape", or
 * "height" and "width" and perhaps "channels" or "depth". Names may end so after a slash, as in
 * "image/height". Zeros if it is unknown. */
struct array_shape {
    uint64_t height;
    uint64_t width;
    uint64_t channels;
};

/* Learns from one part of the record. */
void array_shape_add(struct array_shape *shape, const recmap_example_part *part);

/* True if `count` bytes can be an array of this shape, with 1, 3 or 4 channels. */
bool array_shape_matches(const struct array_shape *shape, uint64_t count);

/* Makes a BMP file of at most 256 x 256 pixels. The shape matches the pixels. Returns its size. */
enum { ARRAY_BITMAP_SIZE_MAX = 54 + 3 * 256 * 256 };
size_t array_make_bitmap(uint8_t *bitmap, const struct array_shape *shape, const uint8_t *pixels);

/* Writes an <img> of at most 256 x 256 pixels. The shape matches the pixels. Returns the bytes of
 * the picture. */
size_t array_write(struct html *html, const struct array_shape *shape, const uint8_t *pixels);

#endif
