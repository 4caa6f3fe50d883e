/* Where a picture's pixels lie in the result: moves boxes as its crop, scaling, flip and
 * orientation move pixels. */
#ifndef RECMAP_PARSE_IMAGE_PLACEMENT_H
#define RECMAP_PARSE_IMAGE_PLACEMENT_H

#include "parse/image/rectangle.h"

struct placement {
    struct rectangle rectangle;
    unsigned orientation;
    uint32_t width, height; /* of the upright picture */
    uint32_t result_width, result_height;
};

/* For pixels of a default colour, which no picture has: nothing is moved. */
extern const struct placement placement_unmoved;

/* Moves a box, ymin, xmin, ymax and xmax, from shares of the stored picture to shares of the
 * result, and cuts it there. Returns the share of its area that is left, 0 if it had none. The
 * coordinates are finite. */
float placement_move_box(float moved[4], const struct placement *placement, const float box[4]);

#endif
