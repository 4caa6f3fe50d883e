/* Any bytes as a picture: described, and decoded as the last two bytes say. A picture that is
 * decoded has pixels everywhere, and the same ones again. A rectangle of it has the pixels that the
 * whole picture has there. Its thumbnail is a small picture. */
#include <stdlib.h>
#include <string.h>

#include <recmap/image.h>

#include "fuzz/fuzz.h"
#include "parse/image/draw.h"
#include "parse/image/rectangle.h"

enum { SIDE = 40, PIXELS_SIZE = SIDE * SIDE * 4 * 4, WHOLE_PIXELS = 1 << 18 };

static recmap_image describe(uint8_t first, uint8_t second) {
    static const recmap_element elements[] = {RECMAP_ELEMENT_UINT8, RECMAP_ELEMENT_UINT16,
                                              RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_BFLOAT16};
    recmap_image image = {.version = RECMAP_IMAGE_VERSION, .max_pixels = WHOLE_PIXELS};
    image.height = 1 + first % SIDE;
    image.width = 1 + second % SIDE;
    image.mode = (recmap_image_mode)(first % 3);
    image.crop = (recmap_crop)(second % 5);
    image.resize = SIDE;
    image.padding = first % 5;
    image.flip = 0.5;
    image.interpolation = (recmap_interpolation)((first >> 3) % 3);
    image.no_antialias = first >> 7;
    image.ignores_exif = second >> 7;
    image.element = elements[(second >> 2) % 4];
    return image;
}

/* Small sizes only: no limit can be given. */
static void make_thumbnail(const uint8_t *data, size_t size, const recmap_image_info *info) {
    recmap_text png = RECMAP_TEXT_INIT;
    recmap_image_info made;
    recmap_error error = RECMAP_ERROR_INIT;
    if ((uint64_t)info->height * info->width > WHOLE_PIXELS) return;
    if (recmap_image_thumbnail(&png, data, size, SIDE, NULL, 0, &error) == RECMAP_OK &&
        (recmap_image_describe(&made, png.data, png.size, &error) != RECMAP_OK ||
         made.height > SIDE || made.width > SIDE))
        abort();
    recmap_text_deinit(&png);
}

/* Decoders skip what lies outside a rectangle, which must not change what lies in it. */
static void compare_rectangle(const uint8_t *data, size_t size, const recmap_image_info *info) {
    static uint8_t whole[WHOLE_PIXELS * 4], part[WHOLE_PIXELS * 4];
    const recmap_image_draw draw = {size, data[size - 1], data[size - 2], RECMAP_NO_RECORD};
    recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                          .mode = (recmap_image_mode)(data[size - 2] % 3),
                          .max_pixels = WHOLE_PIXELS};
    const size_t pixel = recmap_image_channels(image.mode);
    recmap_error error = RECMAP_ERROR_INIT;
    struct rectangle rectangle;
    if ((uint64_t)info->height * info->width > WHOLE_PIXELS ||
        recmap_image_decode(whole, sizeof whole, &image, data, size, NULL, &error) != RECMAP_OK)
        return;
    image.crop = RECMAP_CROP_RANDOM;
    image.height = 1 + data[size - 1] % info->height;
    image.width = 1 + data[size - 2] % info->width;
    if (rectangle_choose(&rectangle, &image, info->width, info->height,
                         draw_state(&draw, draw_stream("")), &error) != RECMAP_OK ||
        recmap_image_decode(part, sizeof part, &image, data, size, &draw, &error) != RECMAP_OK)
        abort();
    for (size_t y = 0; y < image.height; y++) {
        size_t first = (rectangle.y.first + y) * info->width + rectangle.x.first;
        if (memcmp(part + y * image.width * pixel, whole + first * pixel, image.width * pixel) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t pixels[PIXELS_SIZE], again[PIXELS_SIZE];
    recmap_image_info info;
    recmap_error error = RECMAP_ERROR_INIT;
    if (size < 2) return 0;
    recmap_status described = recmap_image_describe(&info, data, size, &error);
    if (described == RECMAP_OK) make_thumbnail(data, size, &info);
    if (described == RECMAP_OK) compare_rectangle(data, size, &info);
    const recmap_image image = describe(data[size - 1], data[size - 2]);
    const recmap_image_draw draw = {size, data[size - 1], data[0], RECMAP_NO_RECORD};
    memset(again, 0, sizeof again);
    memset(pixels, 0xff, sizeof pixels);
    recmap_status status =
        recmap_image_decode(pixels, sizeof pixels, &image, data, size, &draw, &error);
    if (status != RECMAP_OK) {
        if (!error.message[0]) abort();
        return 0;
    }
    size_t element = image.element == RECMAP_ELEMENT_UINT8     ? 1
                     : image.element == RECMAP_ELEMENT_FLOAT32 ? 4
                                                               : 2;
    size_t used = (size_t)image.height * image.width * recmap_image_channels(image.mode) * element;
    status = recmap_image_decode(again, used, &image, data, size, &draw, &error);
    if (described != RECMAP_OK || status != RECMAP_OK || memcmp(pixels, again, used) != 0) abort();
    return 0;
}
