#include "output/pixel_output.h"

#include <stdlib.h>

#include "terminal/message.h"

struct pixels {
    uint8_t *data;
    size_t size;
    uint32_t height;
    uint32_t width;
};

static bool is_wide(const recmap_image *image) {
    return image->element == RECMAP_ELEMENT_UINT16;
}

static recmap_status decode(struct pixels *pixels, const recmap_image *image, recmap_bytes picture,
                            const recmap_image_draw *draw, recmap_error *error) {
    RETURN_IF_FAILED(recmap_image_size(&pixels->height, &pixels->width, image, picture.data,
                                       picture.size, error));
    pixels->size = (size_t)pixels->height * pixels->width * recmap_image_channels(image->mode)
                   << is_wide(image);
    pixels->data = malloc(pixels->size);
    if (!pixels->data) return message_fail_memory(error);
    return recmap_image_decode(pixels->data, pixels->size, image, picture.data, picture.size, draw,
                               error);
}

/* Netpbm stores numbers of two bytes with the high one first. */
static void swap_bytes(struct pixels *pixels) {
    for (size_t i = 0; i < pixels->size; i += 2) {
        uint16_t value = *(const uint16_t *)(const void *)(pixels->data + i);
        pixels->data[i] = (uint8_t)(value >> 8);
        pixels->data[i + 1] = (uint8_t)value;
    }
}

static recmap_status write_file(struct output *output, const struct pixels *pixels,
                                const recmap_image *image, recmap_error *error) {
    const char *kind = image->mode == RECMAP_IMAGE_GRAY ? "P5" : "P6";
    FILE *stream = output->stream;
    if (fprintf(stream, "%s\n%u %u\n%d\n", kind, pixels->width, pixels->height,
                is_wide(image) ? 65535 : 255) > 0 &&
        fwrite(pixels->data, 1, pixels->size, stream) == pixels->size)
        return RECMAP_OK;
    return message_fail_errno(error, output->path ? output->path : "standard output", "write");
}

recmap_status pixel_output_write(struct output *output, const struct pixel_options *options,
                                 recmap_bytes picture, uint64_t number, recmap_error *error) {
    struct pixels pixels = {.data = NULL};
    const recmap_image image = pixel_options_image(options);
    recmap_image_draw draw = options->draw;
    draw.number = number;
    recmap_status status = decode(&pixels, &image, picture, &draw, error);
    if (status == RECMAP_OK && is_wide(&image)) swap_bytes(&pixels);
    if (status == RECMAP_OK) status = write_file(output, &pixels, &image, error);
    free(pixels.data);
    return status;
}
