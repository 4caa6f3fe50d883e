/* All arithmetic here is exact or correctly rounded by IEEE 754, and the build forbids fusing a
 * multiplication with an addition in this file. So each machine chooses the same rectangles. That
 * is why aspects are products of square roots: exp and log differ between C libraries. */
#include "parse/image/rectangle.h"

#include <inttypes.h>
#include <math.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/permutation/random.h"
#include "parse/image/draw.h"

enum { ATTEMPTS = 10, WORDS_PER_ATTEMPT = 4, ASPECT_BITS = 16, SCALED_MAX = 1 << 30 };

/* r0 * (r1 / r0)^(k / 2^16): bit b of k contributes the (16 - b)-fold square root of r1 / r0. */
static double draw_aspect(const double ratio[2], uint64_t word) {
    double roots[ASPECT_BITS], root = ratio[1] / ratio[0], aspect = ratio[0];
    const unsigned k = (unsigned)(word >> 48);
    for (int bit = ASPECT_BITS - 1; bit >= 0; bit--) roots[bit] = root = sqrt(root);
    for (int bit = 0; bit < ASPECT_BITS; bit++)
        if (k >> bit & 1) aspect *= roots[bit];
    return aspect;
}

/* The largest central box whose aspect is allowed. */
static struct box central_box(uint32_t width, uint32_t height, const double ratio[2]) {
    const double aspect = (double)width / height;
    struct box box = {0, 0, width, height};
    if (aspect < ratio[0]) box.height = (uint32_t)nearbyint(width / ratio[0]);
    else if (aspect > ratio[1]) box.width = (uint32_t)nearbyint(height * ratio[1]);
    if (box.height < 1) box.height = 1;
    if (box.width < 1) box.width = 1;
    if (box.height > height) box.height = height;
    if (box.width > width) box.width = width;
    box.x = (width - box.width) / 2;
    box.y = (height - box.height) / 2;
    return box;
}

struct box random_resized_box(uint32_t width, uint32_t height, const double scale[2],
                              const double ratio[2], uint64_t state) {
    const double whole = (double)width * (double)height;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t first = DRAW_WORD_ATTEMPTS + WORDS_PER_ATTEMPT * attempt;
        double share = scale[0] + (scale[1] - scale[0]) * draw_unit(random_word(state, first));
        double area = whole * share, aspect = draw_aspect(ratio, random_word(state, first + 1));
        double w = floor(sqrt(area * aspect) + 0.5), h = floor(sqrt(area / aspect) + 0.5);
        if (!(w >= 1 && w <= width && h >= 1 && h <= height)) continue;
        struct box box = {.width = (uint32_t)w, .height = (uint32_t)h};
        box.x = (uint32_t)random_below(random_word(state, first + 2), width - box.width + 1);
        box.y = (uint32_t)random_below(random_word(state, first + 3), height - box.height + 1);
        return box;
    }
    return central_box(width, height, ratio);
}

static struct side scaled_side(uint32_t first, uint32_t size, uint32_t out) {
    return (struct side){.first = first, .size = size, .scaled = out, .count = out};
}

static const double *scale_of(const recmap_image *image) {
    static const double all_scales[2] = {0.08, 1};
    return image->scale[1] != 0 ? image->scale : all_scales;
}

static const double *ratio_of(const recmap_image *image) {
    static const double all_ratios[2] = {3 / 4., 4 / 3.};
    return image->ratio[1] != 0 ? image->ratio : all_ratios;
}

static uint32_t resize_of(const recmap_image *image) {
    return image->resize ? image->resize : 256;
}

static bool is_same_range(const double a[2], const double b[2]) {
    return a[0] == b[0] && a[1] == b[1];
}

bool rectangle_is_same(const recmap_image *a, const recmap_image *b) {
    if (a->height != b->height || a->width != b->width || a->crop != b->crop || a->flip != b->flip)
        return false;
    switch (a->crop) {
    case RECMAP_CROP_RANDOM_RESIZED:
        return is_same_range(scale_of(a), scale_of(b)) && is_same_range(ratio_of(a), ratio_of(b));
    case RECMAP_CROP_CENTER: return resize_of(a) == resize_of(b);
    case RECMAP_CROP_RANDOM: return a->padding == b->padding && a->fill == b->fill;
    default: return true;
    }
}

/* As torchvision's Resize with one number, then CenterCrop, which rounds half to even. */
static recmap_status choose_center(struct rectangle *rectangle, const recmap_image *image,
                                   uint32_t width, uint32_t height, recmap_error *error) {
    const uint64_t resize = resize_of(image);
    uint64_t scaled_width = width <= height ? resize : resize * width / height;
    uint64_t scaled_height = width <= height ? resize * height / width : resize;
    if (scaled_width > SCALED_MAX || scaled_height > SCALED_MAX)
        return fail(error, RECMAP_FEATURE,
                    "the picture has %u x %u pixels: it is too narrow to scale its shorter side "
                    "to %" PRIu64,
                    height, width, resize);
    rectangle->x = scaled_side(0, width, (uint32_t)scaled_width);
    rectangle->y = scaled_side(0, height, (uint32_t)scaled_height);
    rectangle->x.count = image->width;
    rectangle->y.count = image->height;
    rectangle->x.cut = (uint32_t)nearbyint((double)(scaled_width - image->width) / 2);
    rectangle->y.cut = (uint32_t)nearbyint((double)(scaled_height - image->height) / 2);
    return RECMAP_OK;
}

/* One side of a cut at `at` of the picture with its padding: the part of it that lies in the
 * picture, which may be nothing. */
static struct side padded_side(uint64_t at, uint32_t out, uint32_t size, uint32_t padding) {
    uint64_t begin = at > padding ? at - padding : 0;
    uint64_t end = at + out > padding ? min_u64(at + out - padding, size) : 0;
    uint32_t count = end > begin ? (uint32_t)(end - begin) : 0;
    uint32_t before = at < padding ? (uint32_t)min_u64(padding - at, out) : 0;
    return (struct side){(uint32_t)begin, count, count, 0, count, before};
}

static recmap_status choose_random(struct rectangle *rectangle, const recmap_image *image,
                                   uint32_t width, uint32_t height, uint64_t state,
                                   recmap_error *error) {
    const uint64_t all_width = width + 2 * (uint64_t)image->padding,
                   all_height = height + 2 * (uint64_t)image->padding;
    if (all_width < image->width || all_height < image->height) {
        fail(error, RECMAP_FEATURE,
             "the picture has %u x %u pixels, which is too small for a crop of %u x %u with a "
             "padding of %u",
             height, width, image->height, image->width, image->padding);
        fail_advise(error, "pad more, or scale the picture with RandomResizedCrop");
        return RECMAP_FEATURE;
    }
    uint64_t x = random_below(random_word(state, DRAW_WORD_X), all_width - image->width + 1);
    uint64_t y = random_below(random_word(state, DRAW_WORD_Y), all_height - image->height + 1);
    rectangle->x = padded_side(x, image->width, width, image->padding);
    rectangle->y = padded_side(y, image->height, height, image->padding);
    return RECMAP_OK;
}

static recmap_status check_exact(const recmap_image *image, uint32_t width, uint32_t height,
                                 recmap_error *error) {
    if (width == image->width && height == image->height) return RECMAP_OK;
    fail(error, RECMAP_FEATURE, "the picture has %u x %u pixels, not %u x %u as described", height,
         width, image->height, image->width);
    fail_advise(error, "find out which size is right; an image without the crop \"exact\" scales "
                       "pictures to its size");
    return RECMAP_FEATURE;
}

recmap_status rectangle_choose(struct rectangle *rectangle, const recmap_image *image,
                               uint32_t width, uint32_t height, uint64_t state,
                               recmap_error *error) {
    struct box box = {0, 0, width, height};
    *rectangle = (struct rectangle){.is_flipped = draw_unit(random_word(state, DRAW_WORD_FLIP)) <
                                                  image->flip};
    switch (image->crop) {
    case RECMAP_CROP_CENTER: return choose_center(rectangle, image, width, height, error);
    case RECMAP_CROP_RANDOM: return choose_random(rectangle, image, width, height, state, error);
    case RECMAP_CROP_RANDOM_RESIZED:
        box = random_resized_box(width, height, scale_of(image), ratio_of(image), state);
        break;
    case RECMAP_CROP_EXACT: RETURN_IF_FAILED(check_exact(image, width, height, error)); break;
    case RECMAP_CROP_NONE: break;
    }
    rectangle->x = scaled_side(box.x, box.width, image->width ? image->width : box.width);
    rectangle->y = scaled_side(box.y, box.height, image->height ? image->height : box.height);
    return RECMAP_OK;
}
