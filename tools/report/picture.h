/* Pictures as pages show them: the file itself if it is small, else a PNG of a part of its pixels.
 */
#ifndef RECMAP_TOOLS_REPORT_PICTURE_H
#define RECMAP_TOOLS_REPORT_PICTURE_H

#include <recmap/text.h>

#include "report/array.h"
#include "report/media.h"

/* What a page has room for. */
struct picture_room {
    size_t file_size; /* larger files are not shown as they are, */
    uint32_t side;    /* but so that no side has more pixels */
};

struct picture {
    const char *type; /* such as "image/png" */
    const uint8_t *data;
    size_t size;
    recmap_text png; /* has the data, unless they are those of the file */
};

/* Makes the picture of a file that media_detect recognised. Deinit it also after an error. Errors:
 * FEATURE if the file is damaged, or too large to be decoded; UNSUPPORTED in a build without
 * decoders; NO_MEMORY. */
recmap_status picture_of_file(struct picture *picture, const struct media *media,
                              const uint8_t *data, size_t size, struct picture_room room,
                              recmap_error *error);

/* Makes the picture of an array whose shape matches the pixels, in the same way. */
recmap_status picture_of_array(struct picture *picture, const struct array_shape *shape,
                               const uint8_t *pixels, recmap_error *error);

void picture_deinit(struct picture *picture);

#endif
