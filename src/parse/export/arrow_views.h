/* Bytes as Arrow's binary views: up to 12 bytes are stored in the view itself, longer ones as an
 * offset into one of several buffers. */
#ifndef RECMAP_PARSE_EXPORT_ARROW_VIEWS_H
#define RECMAP_PARSE_EXPORT_ARROW_VIEWS_H

#include "parse/export/arrow_box.h"

/* Returns the index after the last view of a row. The views of a row point into one record or one
 * allocation. */
typedef uint64_t arrow_row_end(const void *context, uint64_t row);

/* For views that may point anywhere: each is a row of its own. */
arrow_row_end arrow_view_alone;

/* Sets the node's buffers for `count` views, except the validity buffer, which the caller sets.
 * Each row with a long view adds a buffer that spans its long views, which must be within 2 GiB.
 * Returns false if memory runs out. */
bool arrow_views_init(struct arrow_node *node, struct arrow_box *box, const recmap_bytes *views,
                      uint64_t count, uint64_t row_count, arrow_row_end *row_end,
                      const void *context);

#endif
