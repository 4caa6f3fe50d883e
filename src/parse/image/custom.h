/* A user's decoder, recmap_image_decoder, called as recmap's own are. What it says is not trusted:
 * the header and each row are checked first. */
#ifndef RECMAP_PARSE_IMAGE_CUSTOM_H
#define RECMAP_PARSE_IMAGE_CUSTOM_H

#include "parse/image/decoder.h"

/* Returns INVALID if one of the decoders has no name or lacks a function. */
recmap_status custom_check(const recmap_image_decoder *decoders, size_t count, recmap_error *error);

/* The first decoder that recognizes the bytes, or NULL. */
const recmap_image_decoder *custom_find(const recmap_image_decoder *decoders, size_t count,
                                        const uint8_t *data, size_t size);

/* Errors: FEATURE for a damaged or impossible header, NO_MEMORY. */
recmap_status custom_header_read(struct image_header *header, const recmap_image_decoder *decoder,
                                 const uint8_t *data, size_t size, recmap_error *error);

/* Decodes with `encoded->header->custom`. */
recmap_status custom_decode(struct image_rows *rows, const struct encoded *encoded,
                            const struct region *region, recmap_error *error);

#endif
