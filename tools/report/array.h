/* Pictures stored as raw arrays of bytes: two dimensions, or three of which the last or the first
 * are channels. */
#ifndef RECMAP_TOOLS_REPORT_ARRAY_H
#define RECMAP_TOOLS_REPORT_ARRAY_H

#include <stdbool.h>
#include <stdio.h>

#include <recmap/example.h>
#include <recmap/text.h>

enum array_layout { ARRAY_UNKNOWN, ARRAY_CHANNELS_LAST, ARRAY_CHANNELS_FIRST };

/* The shape of the arrays in one record, as its other features give it: a feature "shape", or
 * "height" and "width" and perhaps "channels" or "depth". Names may end so after a slash, as in
 * "image/height". Zeros if it is unknown. */
struct array_shape {
    uint64_t height;
    uint64_t width;
    uint64_t channels;
    enum array_layout layout;
};

/* Learns from one part of the record. */
void array_shape_add(struct array_shape *shape, const recmap_example_part *part);

/* True if `count` bytes can be an array of this shape, with 1, 3 or 4 channels. */
bool array_shape_matches(const struct array_shape *shape, uint64_t count);

/* The layout of an array of this shape. If no feature says it, that in which neighbours in a column
 * differ less. */
enum array_layout array_layout_of(const struct array_shape *shape, const uint8_t *pixels);

enum { ARRAY_TEXT_SIZE = 112 };

/* Says what an array is: "uint8 array, 32 x 32 x 3". Returns `text`. */
const char *array_describe(char text[ARRAY_TEXT_SIZE], const struct array_shape *shape,
                           const uint8_t *pixels);

/* Appends a PNG of at most 256 x 256 pixels. The shape matches the pixels. Errors: UNSUPPORTED in a
 * build without decoders, NO_MEMORY. */
recmap_status array_to_png(recmap_text *png, const struct array_shape *shape, const uint8_t *pixels,
                           recmap_error *error);

#endif
