/* The decoders of the formats. Each gives the rows of a region to `rows`, at least; it may give
 * more columns, and all earlier rows. */
#ifndef RECMAP_PARSE_IMAGE_DECODER_H
#define RECMAP_PARSE_IMAGE_DECODER_H

#include "parse/image/rows.h"

/* What a decoder reads. */
struct encoded {
    const uint8_t *data;
    size_t size;
    const struct image_header *header;
    uint64_t max_pixels; /* also bounds the memory */
};

/* Errors: FEATURE if the picture is damaged or ends before the region does, NO_MEMORY. */
recmap_status jpeg_decode(struct image_rows *rows, const struct encoded *encoded,
                          const struct region *region, recmap_error *error);
recmap_status png_decode(struct image_rows *rows, const struct encoded *encoded,
                         const struct region *region, recmap_error *error);
recmap_status webp_decode(struct image_rows *rows, const struct encoded *encoded,
                          const struct region *region, recmap_error *error);

/* Returns UNSUPPORTED in a build without the libraries of these formats. */
recmap_status decoders_check(recmap_error *error);

/* 16-bit gray does not become 8-bit. */
recmap_status fail_wide_gray(recmap_error *error);

#endif
