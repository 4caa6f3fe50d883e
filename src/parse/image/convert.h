/* Converts samples of a decoder to the channels of the pixels. Pure. */
#ifndef RECMAP_PARSE_IMAGE_CONVERT_H
#define RECMAP_PARSE_IMAGE_CONVERT_H

#include "parse/image/rows.h"

/* Converts `count` pixels. `from` and `out` have 16-bit samples if so said, else 8-bit ones. */
void convert_samples(void *out, recmap_image_mode mode, bool out_is_wide, const void *from,
                     enum sample_layout layout, bool from_is_wide, size_t count);

/* Returns true if the samples of a pixel are its channels already. */
bool convert_is_copy(recmap_image_mode mode, enum sample_layout layout);

/* The samples of a pixel in a layout: 1 to 4. */
unsigned layout_channels(enum sample_layout layout);

#endif
