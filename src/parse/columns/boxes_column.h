/* BOXES: coordinates of a record, moved as the pixels of its picture were. */
#ifndef RECMAP_PARSE_COLUMNS_BOXES_COLUMN_H
#define RECMAP_PARSE_COLUMNS_BOXES_COLUMN_H

#include "parse/columns/columns.h"

/* Moves the boxes of row `row` that lie in an image, which was just decoded. Returns false and
 * fills `fault` on failure. */
bool boxes_columns_read(recmap_columns *columns, size_t image_index, size_t row,
                        struct read_fault *fault);

#endif
