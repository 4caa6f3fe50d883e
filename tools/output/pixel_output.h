/* Writes the pixels of one picture as a Netpbm file. */
#ifndef RECMAP_TOOLS_OUTPUT_PIXEL_OUTPUT_H
#define RECMAP_TOOLS_OUTPUT_PIXEL_OUTPUT_H

#include <recmap/record.h>

#include "output/output.h"
#include "output/pixel_options.h"

/* Decodes a picture of the record with this number, and writes a PPM (P6), or of gray pixels a PGM
 * (P5). Errors: those of recmap_image_decode, IO. */
recmap_status pixel_output_write(struct output *output, const struct pixel_options *options,
                                 recmap_bytes picture, uint64_t number, recmap_error *error);

#endif
