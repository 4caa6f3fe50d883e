/* Pixels with channels first, which Arrow gets as a copy. Its tensors may be permuted, but readers
 * disagree about the direction of the permutation: pyarrow 26 gives other strides than it takes. */
#ifndef RECMAP_PARSE_EXPORT_ARROW_CHANNELS_H
#define RECMAP_PARSE_EXPORT_ARROW_CHANNELS_H

#include "parse/columns/columns.h"
#include "parse/export/arrow_box.h"

bool arrow_is_channels_first(const recmap_parser *parser, const struct column_plan *column);

/* Replaces the dimensions of a row, height, width and channels, by channels, height and width.
 * Returns false if memory runs out, as does the next function. */
bool arrow_channels_shape(const uint64_t **dimensions, struct arrow_box *box);

/* Copies the elements of a column with strides to C order. */
bool arrow_channels_copy(const void **elements, struct arrow_box *box, const recmap_column *column);

#endif
