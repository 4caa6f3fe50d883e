/* Lists of pictures: each value of a feature is one. */
#ifndef RECMAP_PARSE_COLUMNS_PICTURES_H
#define RECMAP_PARSE_COLUMNS_PICTURES_H

#include "parse/columns/columns.h"

/* Decodes the pictures of row `row` of a feature with a list. Returns false and fills `fault` on
 * failure. */
bool pictures_read(recmap_columns *columns, const struct image_feature *image,
                   const recmap_image_draw *draw, size_t row, struct read_fault *fault);

/* Decodes one picture of the parser's image, which is in `image_column.c`. Of the columns, it uses
 * the interrupt, the counts and the scratch memory. */
bool image_column_decode(recmap_columns *columns, const recmap_parser *parser,
                         const struct image_feature *image, void *pixels, const recmap_bytes *bytes,
                         const recmap_image_draw *draw, struct read_fault *fault);

#endif
