/* All arithmetic is in double, in the order of docs/formats/images.md, and rounded to float once.
 */
#include "parse/image/placement.h"

#include "parse/image/header.h"

const struct placement placement_unmoved = {
    .rectangle = {.x = {.size = 1, .scaled = 1, .count = 1},
                  .y = {.size = 1, .scaled = 1, .count = 1}},
    .orientation = 1,
    .width = 1,
    .height = 1,
    .result_width = 1,
    .result_height = 1,
};

/* A box along one axis. */
struct range {
    double min, max;
};

static struct range mirrored(struct range range) {
    return (struct range){1 - range.max, 1 - range.min};
}

static double moved_edge(double edge, const struct side *side, uint32_t whole, uint32_t result) {
    /* Nothing of the picture is left if the size is 0, and nothing is scaled then. */
    const double size = side->size ? side->size : 1, scaled = side->size ? side->scaled : 1;
    const double place = (edge * whole - side->first) * scaled / size - side->cut + side->before;
    return place / result;
}

static struct range moved_range(struct range range, const struct side *side, uint32_t whole,
                                uint32_t result) {
    return (struct range){moved_edge(range.min, side, whole, result),
                          moved_edge(range.max, side, whole, result)};
}

static double cut(double edge) {
    return edge < 0 ? 0 : edge > 1 ? 1 : edge;
}

static struct range cut_range(struct range range) {
    return (struct range){cut(range.min), cut(range.max)};
}

static double area(const struct range *y, const struct range *x) {
    return y->max > y->min && x->max > x->min ? (y->max - y->min) * (x->max - x->min) : 0;
}

float placement_move_box(float moved[4], const struct placement *placement, const float box[4]) {
    const unsigned orientation = placement->orientation;
    const bool swaps = orientation_swaps(orientation);
    struct range y = {box[0], box[2]}, x = {box[1], box[3]};
    if (swaps) {
        const struct range upright_x = y;
        y = x;
        x = upright_x;
    }
    if (orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7)
        x = mirrored(x);
    if (orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8)
        y = mirrored(y);
    y = moved_range(y, &placement->rectangle.y, placement->height, placement->result_height);
    x = moved_range(x, &placement->rectangle.x, placement->width, placement->result_width);
    if (placement->rectangle.is_flipped) x = mirrored(x);
    const double whole = area(&y, &x);
    y = cut_range(y);
    x = cut_range(x);
    moved[0] = (float)y.min;
    moved[1] = (float)x.min;
    moved[2] = (float)y.max;
    moved[3] = (float)x.max;
    return whole > 0 ? (float)(area(&y, &x) / whole) : 0;
}
