#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/short_float.h"
#include "parse/image/custom.h"
#include "parse/image/draw.h"
#include "parse/image/image.h"
#include "parse/image/rectangle.h"

enum { SIDE_MAX = 65535, LEVELS = 256 };

/* The largest limit: products of it do not overflow. */
#define PIXELS_MAX (UINT64_C(1) << 40)

unsigned recmap_image_channels(recmap_image_mode mode) {
    switch (mode) {
    case RECMAP_IMAGE_GRAY: return 1;
    case RECMAP_IMAGE_RGBA: return 4;
    default: return 3;
    }
}

size_t image_element_size(recmap_element element) {
    switch (element) {
    case RECMAP_ELEMENT_FLOAT32: return 4;
    case RECMAP_ELEMENT_UINT16:
    case RECMAP_ELEMENT_FLOAT16:
    case RECMAP_ELEMENT_BFLOAT16: return 2;
    default: return 1;
    }
}

static bool is_floating(recmap_element element) {
    return element == RECMAP_ELEMENT_FLOAT32 || element == RECMAP_ELEMENT_FLOAT16 ||
           element == RECMAP_ELEMENT_BFLOAT16;
}

/* True if both numbers are 0, which means the defaults, or in order and within the bounds. */
static bool is_range(const double range[2], double max) {
    if (range[0] == 0 && range[1] == 0) return true;
    return range[0] > 0 && range[0] <= range[1] && range[1] <= max;
}

static recmap_status check_size(const recmap_image *image, recmap_error *error) {
    bool has_size = image->height && image->width;
    if (!image->height != !image->width || image->height > SIDE_MAX || image->width > SIDE_MAX)
        return fail(error, RECMAP_INVALID,
                    "invalid image size %u x %u: both sides must be 1 to %d, or both 0",
                    image->height, image->width, SIDE_MAX);
    if (image->crop != RECMAP_CROP_NONE && !has_size)
        return fail(error, RECMAP_INVALID, "a crop needs the size of the image");
    uint32_t resize = image->resize ? image->resize : 256;
    if (image->crop == RECMAP_CROP_CENTER &&
        (resize > SIDE_MAX || image->height > resize || image->width > resize))
        return fail(error, RECMAP_INVALID,
                    "a central crop of %u x %u pixels does not fit in a picture whose shorter "
                    "side is scaled to %u",
                    image->height, image->width, resize);
    if (image->padding > SIDE_MAX)
        return fail(error, RECMAP_INVALID, "invalid padding %u: at most %d", image->padding,
                    SIDE_MAX);
    return RECMAP_OK;
}

static recmap_status check_colours(const recmap_image *image, recmap_error *error) {
    const recmap_element element = image->element;
    if (!is_floating(element) && element != RECMAP_ELEMENT_UINT8 &&
        element != RECMAP_ELEMENT_UINT16)
        return fail(error, RECMAP_INVALID,
                    "pixels must be uint8, uint16, float32, float16 or bfloat16");
    if (!is_floating(element) && (image->mean || image->std))
        return fail(error, RECMAP_INVALID, "mean and std need floating-point pixels");
    for (unsigned c = 0; c < recmap_image_channels(image->mode); c++) {
        bool is_good = (!image->mean || isfinite(image->mean[c])) &&
                       (!image->std || (isfinite(image->std[c]) && image->std[c] > 0));
        if (!is_good)
            return fail(error, RECMAP_INVALID,
                        "invalid mean or std of channel %u: both must be finite, and std above 0",
                        c);
    }
    return RECMAP_OK;
}

static recmap_status check(const recmap_image *image, recmap_error *error) {
    if (image->mode > RECMAP_IMAGE_RGBA || image->crop > RECMAP_CROP_EXACT ||
        image->interpolation > RECMAP_NEAREST)
        return fail(error, RECMAP_INVALID, "invalid mode, crop or interpolation: %d, %d, %d",
                    (int)image->mode, (int)image->crop, (int)image->interpolation);
    if (image->layout > RECMAP_IMAGE_CHW)
        return fail(error, RECMAP_INVALID, "invalid layout of an image: %d", (int)image->layout);
    if (!is_range(image->scale, 1))
        return fail(error, RECMAP_INVALID,
                    "invalid scale %g to %g: above 0, at most 1, the smaller first",
                    image->scale[0], image->scale[1]);
    if (!is_range(image->ratio, 1e6))
        return fail(error, RECMAP_INVALID, "invalid ratio %g to %g: above 0, the smaller first",
                    image->ratio[0], image->ratio[1]);
    if (!(image->flip >= 0 && image->flip <= 1))
        return fail(error, RECMAP_INVALID, "invalid probability of a flip: %g is not 0 to 1",
                    image->flip);
    RETURN_IF_FAILED(check_size(image, error));
    RETURN_IF_FAILED(custom_check(image->decoders, image->decoder_count, error));
    return check_colours(image, error);
}

/* Elements are computed in double and rounded once to float, and from there to a short one. */
static void store_element(void *element, recmap_element kind, double value) {
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    uint16_t shorter = kind == RECMAP_ELEMENT_FLOAT16 ? float16_of_float(bits)
                                                      : bfloat16_of_float(bits);
    if (kind == RECMAP_ELEMENT_FLOAT32) memcpy(element, &rounded, sizeof rounded);
    else memcpy(element, &shorter, sizeof shorter);
}

static bool make_table(struct image_plan *plan, const recmap_image *image) {
    const size_t size = image_element_size(plan->image.element);
    plan->table = malloc(plan->channels * LEVELS * size);
    if (!plan->table) return false;
    for (unsigned c = 0; c < plan->channels; c++)
        for (unsigned level = 0; level < LEVELS; level++) {
            double value = level / 255.;
            if (image->mean) value -= image->mean[c];
            if (image->std) value /= image->std[c];
            store_element((uint8_t *)plan->table + (LEVELS * c + level) * size, plan->image.element,
                          value);
        }
    return true;
}

static bool copy_decoders(struct image_plan *plan, const recmap_image *image) {
    size_t size = image->decoder_count * sizeof *image->decoders;
    if (!size) return true;
    plan->decoders = malloc(size);
    if (!plan->decoders) return false;
    memcpy(plan->decoders, image->decoders, size);
    plan->decoder_count = image->decoder_count;
    return true;
}

recmap_status image_plan_init(struct image_plan *plan, const recmap_image *image,
                              recmap_error *error) {
    *plan = (struct image_plan){.image = *image};
    if (image->version != RECMAP_IMAGE_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_image has version %u, not %d", image->version,
                    RECMAP_IMAGE_VERSION);
    recmap_image *own = &plan->image;
    if (!own->element) own->element = RECMAP_ELEMENT_UINT8;
    if (!own->max_pixels) own->max_pixels = RECMAP_IMAGE_MAX_PIXELS;
    own->max_pixels = min_u64(own->max_pixels, PIXELS_MAX);
    RETURN_IF_FAILED(check(own, error));
    if (!image->decoder_count) RETURN_IF_FAILED(decoders_check(error));
    own->mean = own->std = NULL;
    own->draw = NULL;
    own->decoders = NULL;
    plan->channels = recmap_image_channels(own->mode);
    plan->pixel_size = plan->channels * image_element_size(own->element);
    plan->draw_stream = draw_stream(image->draw);
    plan->is_random = (own->flip > 0 && own->flip < 1) || own->crop == RECMAP_CROP_RANDOM ||
                      own->crop == RECMAP_CROP_RANDOM_RESIZED;
    if (is_floating(own->element) && !make_table(plan, image)) return fail_memory(error);
    return copy_decoders(plan, image) ? RECMAP_OK : fail_memory(error);
}

/* Pixels that are not scaled have no filter, and the nearest pixel is the same for any width. */
static bool is_same_filter(const recmap_image *a, const recmap_image *b) {
    const bool is_scaled = a->height && a->crop != RECMAP_CROP_RANDOM &&
                           a->crop != RECMAP_CROP_EXACT;
    return !is_scaled ||
           (a->interpolation == b->interpolation &&
            (a->interpolation == RECMAP_NEAREST || !a->no_antialias == !b->no_antialias));
}

static bool is_same_table(const struct image_plan *a, const struct image_plan *b) {
    return !a->table || memcmp(a->table, b->table, LEVELS * a->pixel_size) == 0;
}

static bool is_same_decoders(const struct image_plan *a, const struct image_plan *b) {
    return a->decoder_count == b->decoder_count &&
           (!a->decoder_count ||
            memcmp(a->decoders, b->decoders, a->decoder_count * sizeof *a->decoders) == 0);
}

bool image_plan_is_same(const struct image_plan *a, const struct image_plan *b) {
    const recmap_image *first = &a->image, *second = &b->image;
    return first->mode == second->mode && first->element == second->element &&
           first->layout == second->layout && !first->ignores_exif == !second->ignores_exif &&
           a->draw_stream == b->draw_stream && rectangle_is_same(first, second) &&
           is_same_filter(first, second) && is_same_table(a, b) && is_same_decoders(a, b);
}

void image_plan_fill(void *pixels, const struct image_plan *plan, const uint8_t *colour,
                     size_t count) {
    const size_t element = image_element_size(plan->image.element);
    uint8_t pixel[16];
    for (unsigned c = 0; c < plan->channels; c++) {
        const uint16_t wide = (uint16_t)(colour[c] * 257);
        const void *from = &colour[c];
        if (plan->image.element == RECMAP_ELEMENT_UINT16) from = &wide;
        if (plan->table) from = (const uint8_t *)plan->table + (LEVELS * c + colour[c]) * element;
        memcpy(pixel + c * element, from, element);
    }
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)pixels + i * plan->pixel_size, pixel, plan->pixel_size);
}

void image_plan_deinit(struct image_plan *plan) {
    free(plan->table);
    plan->table = NULL;
    free(plan->decoders);
    plan->decoders = NULL;
}
