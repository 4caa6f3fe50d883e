#include "parse/image/header.h"

#include <string.h>

#include "base/core/error.h"

/* A format that is recognised only to name it. */
struct other_format {
    const char *name;
    const char *signature;
    size_t size;
    size_t at;
};

static const struct other_format others[] = {
    {"GIF", "GIF8", 4, 0},
    {"BMP", "BM", 2, 0},
    {"TIFF", "II*\0", 4, 0},
    {"TIFF", "MM\0*", 4, 0},
    {"JPEG 2000", "\0\0\0\x0cjP  ", 8, 0},
    {"JPEG XL", "\xff\x0a", 2, 0},
    {"JPEG XL", "\0\0\0\x0cJXL ", 8, 0},
    {"AVIF", "ftypavif", 8, 4},
    {"HEIF", "ftyphei", 7, 4},
    {"QOI", "qoif", 4, 0},
    {"NumPy", "\x93NUMPY", 6, 0},
    {"HTML", "<!DOCTYPE", 9, 0},
    {"HTML", "<!doctype", 9, 0},
    {"HTML", "<html", 5, 0},
    {"XML or SVG", "<", 1, 0},
};

static bool starts_with(const uint8_t *data, size_t size, const char *signature, size_t length,
                        size_t at) {
    return size >= at && size - at >= length && !memcmp(data + at, signature, length);
}

static recmap_status fail_format(const uint8_t *data, size_t size, recmap_error *error) {
    if (!size) return fail(error, RECMAP_FEATURE, "the picture is empty: 0 bytes");
    if (!error) return RECMAP_UNSUPPORTED;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (starts_with(data, size, others[i].signature, others[i].size, others[i].at)) {
            fail(error, RECMAP_UNSUPPORTED, "the bytes are %s, not JPEG, PNG or WebP",
                 others[i].name);
            fail_advise(error,
                        "give the image a decoder of this format, or read the feature as bytes");
            return RECMAP_UNSUPPORTED;
        }
    fail(error, RECMAP_UNSUPPORTED, "the bytes are not a JPEG, PNG or WebP picture");
    fail_advise(error, "if they are raw pixels, read the feature with their dtype and shape");
    return RECMAP_UNSUPPORTED;
}

recmap_status image_header_read(struct image_header *header, const uint8_t *data, size_t size,
                                recmap_error *error) {
    *header = (struct image_header){.orientation = 1};
    if (starts_with(data, size, "\xff\xd8\xff", 3, 0)) {
        header->format = RECMAP_IMAGE_JPEG;
        return jpeg_header_read(header, data, size, error);
    }
    if (starts_with(data, size, "\x89PNG\r\n\x1a\n", 8, 0)) {
        header->format = RECMAP_IMAGE_PNG;
        return png_header_read(header, data, size, error);
    }
    if (starts_with(data, size, "RIFF", 4, 0) && starts_with(data, size, "WEBP", 4, 8)) {
        header->format = RECMAP_IMAGE_WEBP;
        return webp_header_read(header, data, size, error);
    }
    return fail_format(data, size, error);
}
