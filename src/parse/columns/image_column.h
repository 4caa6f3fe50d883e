/* Pixels of a row's pictures, made after its record was read. */
#ifndef RECMAP_PARSE_COLUMNS_IMAGE_COLUMN_H
#define RECMAP_PARSE_COLUMNS_IMAGE_COLUMN_H

#include "parse/columns/columns.h"

/* Decodes the pictures of row `row` to their places in the batch, and moves their boxes. Returns
 * false and fills `fault` on failure. */
bool image_columns_read(recmap_columns *columns, const recmap_record *record, size_t row,
                        struct read_fault *fault);

/* Removes row `row`, the last one, from all outputs. */
void image_columns_roll_back(struct batch_memory *memory, size_t row);

/* Makes the row null in all outputs. */
void image_columns_nothing(struct batch_memory *memory, size_t row);

#endif
