/* The weights that scale one side of a picture. Pure. docs/formats/images.md specifies them. */
#ifndef RECMAP_PARSE_IMAGE_FILTER_H
#define RECMAP_PARSE_IMAGE_FILTER_H

#include <recmap/image.h>

#include "parse/image/rectangle.h"

enum {
    FILTER_BITS = 14,      /* the weights of a pixel add up to 2^14 */
    FILTER_TAPS_ALIGN = 8, /* lists of weights are padded with zeros to a multiple of this */
};

/* Pixel i of the result is the sum of the source's pixels begin + first[i], begin + first[i] + 1,
 * ..., each times a weight. */
struct filter {
    uint32_t begin; /* the source's pixels [begin, end) are needed */
    uint32_t end;
    uint32_t count;       /* of the result's pixels */
    uint32_t taps_stride; /* weights of a pixel with padding, a multiple of FILTER_TAPS_ALIGN */
    uint32_t taps_max;    /* weights of the pixel with the most, without padding; at least 1 */
    uint32_t *first;
    uint32_t *taps;   /* weights of each pixel that are not padding */
    int16_t *weights; /* taps_stride for each pixel */
    void *memory;
    size_t memory_size;
};

void filter_deinit(struct filter *filter);

/* Makes the weights of a side, in memory that is reused. `begin` counts from the side's first
 * pixel. Returns false if memory runs out. */
bool filter_make(struct filter *filter, const struct side *side, recmap_interpolation interpolation,
                 bool antialias);

/* Reverses the order of the result's pixels. */
void filter_mirror(struct filter *filter);

#endif
