/* The headers of pictures, read before any library sees their bytes: format, size, channels, depth
 * and orientation. Pure; never reads outside the bytes. */
#ifndef RECMAP_PARSE_IMAGE_HEADER_H
#define RECMAP_PARSE_IMAGE_HEADER_H

#include <stdbool.h>

#include <recmap/image.h>

struct image_header {
    recmap_image_format format;
    uint32_t height; /* as stored, not upright */
    uint32_t width;
    const char *mode;
    const recmap_image_decoder *custom; /* that recognized the picture; else NULL */
    uint8_t channels;                   /* of the stored samples; 1 for a palette */
    uint8_t depth;
    uint8_t orientation;
    bool is_animated;      /* WebP: the first frame counts */
    bool has_adobe_marker; /* JPEG: CMYK is inverted */
    bool is_plain_sampled; /* JPEG: each sampling factor is 1 or 2 */
    bool is_multi_scan;    /* JPEG: all coefficients are kept until the last scan */
    uint8_t frame_type;    /* JPEG: N of its marker SOFN */
    uint32_t scan_count;   /* JPEG: of files with several scans, else 1 */
};

/* Errors: UNSUPPORTED for other formats, FEATURE for damaged headers. */
recmap_status image_header_read(struct image_header *header, const uint8_t *data, size_t size,
                                recmap_error *error);

/* One for each format. `data` starts with the format's signature. */
recmap_status jpeg_header_read(struct image_header *header, const uint8_t *data, size_t size,
                               recmap_error *error);
recmap_status png_header_read(struct image_header *header, const uint8_t *data, size_t size,
                              recmap_error *error);
recmap_status webp_header_read(struct image_header *header, const uint8_t *data, size_t size,
                               recmap_error *error);

/* The orientation in EXIF data, which starts with a TIFF header: 1 to 8, and 1 if it has none. */
uint8_t exif_orientation(const uint8_t *data, size_t size);

/* The size of a picture that is turned upright. Orientations from 5 on swap the sides. */
static inline bool orientation_swaps(unsigned orientation) {
    return orientation >= 5;
}

#endif
