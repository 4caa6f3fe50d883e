/* Which rectangle of an upright picture becomes the pixels, and at which scale. */
#ifndef RECMAP_PARSE_IMAGE_RECTANGLE_H
#define RECMAP_PARSE_IMAGE_RECTANGLE_H

#include <stdbool.h>

#include <recmap/image.h>

/* One side. The picture's pixels [first, first + size) are scaled to `scaled` pixels, of which
 * [cut, cut + count) are kept. */
struct side {
    uint32_t first;
    uint32_t size;
    uint32_t scaled;
    uint32_t cut;
    uint32_t count;
    uint32_t before; /* pixels of padding before those, in the result */
};

struct rectangle {
    struct side x;
    struct side y;
    bool is_flipped;
};

/* A rectangle in pixels. */
struct box {
    uint32_t x, y, width, height;
};

/* What torchvision's RandomResizedCrop does, with the words of a state. */
struct box random_resized_box(uint32_t width, uint32_t height, const double scale[2],
                              const double ratio[2], uint64_t state);

/* The rectangle of an upright picture. Errors: FEATURE if it is smaller than a random crop. */
recmap_status rectangle_choose(struct rectangle *rectangle, const recmap_image *image,
                               uint32_t width, uint32_t height, uint64_t state,
                               recmap_error *error);

/* Returns true if both descriptions choose the same rectangles with the same draws. */
bool rectangle_is_same(const recmap_image *a, const recmap_image *b);

#endif
