#include "report/picture.h"

#include <recmap/image.h>

#include "terminal/decoders.h"
#include "terminal/message.h"

enum { FILE_PIXELS_MAX = 1 << 24 }; /* that a browser is given to decode */

/* Returns true if a browser shows the file as it is. */
static bool is_small(const struct media *media, size_t size, struct picture_room room) {
    return size <= room.file_size && !media->is_wide_gray && !media->is_custom &&
           (uint64_t)media->width * media->height <= FILE_PIXELS_MAX;
}

static void use_png(struct picture *picture) {
    picture->type = "image/png";
    picture->data = (const uint8_t *)picture->png.data;
    picture->size = picture->png.size;
}

recmap_status picture_of_file(struct picture *picture, const struct media *media,
                              const uint8_t *data, size_t size, struct picture_room room,
                              recmap_error *error) {
    *picture = (struct picture){media->type, data, size, RECMAP_TEXT_INIT};
    if (media->problem[0])
        return message_fail(error, RECMAP_FEATURE, NULL, NULL, "%s", media->problem);
    if (is_small(media, size, room)) return RECMAP_OK;
    size_t count;
    const recmap_image_decoder *decoders = decoders_loaded(&count);
    RETURN_IF_FAILED(
        recmap_image_thumbnail(&picture->png, data, size, room.side, decoders, count, error));
    use_png(picture);
    return RECMAP_OK;
}

recmap_status picture_of_array(struct picture *picture, const struct array_shape *shape,
                               const uint8_t *pixels, recmap_error *error) {
    *picture = (struct picture){.png = RECMAP_TEXT_INIT};
    RETURN_IF_FAILED(array_to_png(&picture->png, shape, pixels, error));
    use_png(picture);
    return RECMAP_OK;
}

void picture_deinit(struct picture *picture) {
    recmap_text_deinit(&picture->png);
}
