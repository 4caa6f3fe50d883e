/* Small copies of pictures, for tables and pages. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/image.h>

#include "base/core/error.h"

/* A thumbnail being made. */
struct thumbnail {
    recmap_image image;
    uint32_t height;
    uint32_t width;
    size_t count; /* of pixels */
    void *pixels;
};

static bool is_gray(const recmap_image_info *info) {
    return info->mode[0] == 'L';
}

static recmap_image_mode mode_of(const recmap_image_info *info) {
    if (!strcmp(info->mode, "L") || (is_gray(info) && info->depth == 16)) return RECMAP_IMAGE_GRAY;
    bool has_alpha = !strcmp(info->mode, "LA") || !strcmp(info->mode, "RGBA") ||
                     !strcmp(info->mode, "P");
    return has_alpha ? RECMAP_IMAGE_RGBA : RECMAP_IMAGE_RGB;
}

/* The length of a side in proportion to the longest, which becomes `side`; never longer. */
static uint32_t shorten(uint32_t length, uint32_t longest, uint32_t side) {
    if (longest <= side) return length;
    uint32_t scaled = (uint32_t)(((uint64_t)length * side + longest / 2) / longest);
    return scaled ? scaled : 1;
}

static void plan(struct thumbnail *thumbnail, const recmap_image_info *info, uint32_t side) {
    const uint32_t longest = info->height > info->width ? info->height : info->width;
    *thumbnail = (struct thumbnail){.image = {.version = RECMAP_IMAGE_VERSION}};
    thumbnail->height = shorten(info->height, longest, side);
    thumbnail->width = shorten(info->width, longest, side);
    thumbnail->count = (size_t)thumbnail->height * thumbnail->width;
    thumbnail->image.height = thumbnail->height;
    thumbnail->image.width = thumbnail->width;
    thumbnail->image.mode = mode_of(info);
    if (is_gray(info) && info->depth == 16) thumbnail->image.element = RECMAP_ELEMENT_UINT16;
}

static size_t size_of(const struct thumbnail *thumbnail) {
    const unsigned channels = recmap_image_channels(thumbnail->image.mode);
    return thumbnail->count * channels << (thumbnail->image.element == RECMAP_ELEMENT_UINT16);
}

/* 16-bit gray is usually depth in millimetres or a label, of which the high bytes alone would be
 * black: the range of the values becomes the range from black to white. */
static void stretch(struct thumbnail *thumbnail) {
    const uint16_t *values = thumbnail->pixels;
    uint8_t *levels = thumbnail->pixels;
    uint16_t min = UINT16_MAX, max = 0;
    for (size_t i = 0; i < thumbnail->count; i++) {
        if (values[i] < min) min = values[i];
        if (values[i] > max) max = values[i];
    }
    const uint32_t range = max > min ? (uint32_t)(max - min) : 1;
    for (size_t i = 0; i < thumbnail->count; i++)
        levels[i] = (uint8_t)(((uint32_t)(values[i] - min) * 255 + range / 2) / range);
}

static recmap_status make(recmap_text *png, struct thumbnail *thumbnail, const void *data,
                          size_t size, recmap_error *error) {
    thumbnail->pixels = malloc(size_of(thumbnail));
    if (!thumbnail->pixels) return fail_memory(error);
    RETURN_IF_FAILED(recmap_image_decode(thumbnail->pixels, size_of(thumbnail), &thumbnail->image,
                                         data, size, NULL, error));
    if (thumbnail->image.element == RECMAP_ELEMENT_UINT16) stretch(thumbnail);
    return recmap_image_to_png(png, thumbnail->pixels, thumbnail->height, thumbnail->width,
                               thumbnail->image.mode, error);
}

recmap_status recmap_image_thumbnail(recmap_text *png, const void *data, size_t size, uint32_t side,
                                     const recmap_image_decoder *decoders, size_t decoder_count,
                                     recmap_error *error) {
    recmap_image_info info;
    struct thumbnail thumbnail;
    if (!side) return fail(error, RECMAP_INVALID, "the side of a thumbnail must be at least 1");
    RETURN_IF_FAILED(recmap_image_describe_with(&info, data, size, decoders, decoder_count, error));
    plan(&thumbnail, &info, side);
    thumbnail.image.decoders = decoders;
    thumbnail.image.decoder_count = decoder_count;
    recmap_status status = make(png, &thumbnail, data, size, error);
    free(thumbnail.pixels);
    return status;
}
