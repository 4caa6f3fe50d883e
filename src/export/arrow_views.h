/* Bytes as Arrow's binary views: sizes with the bytes themselves up to 12 of them, and with a place
 * in one of many buffers beyond that. */
#ifndef RECMAP_EXPORT_ARROW_VIEWS_H
#define RECMAP_EXPORT_ARROW_VIEWS_H

#include "export/arrow_box.h"

/* Where the views of each row end: those of a row lie in one record, or in one piece of memory. */
typedef uint64_t arrow_row_end(const void *context, uint64_t row);

/* Views that may lie anywhere: each is a row of its own. */
arrow_row_end arrow_view_alone;

/* Gives the node the buffers of `count` views in rows; that of its validity comes from the caller.
 * Each row with a long view adds a buffer, from its first one to its last: those of a row lie
 * within 2 GiB. False when memory is out. */
bool arrow_views_make(struct arrow_node *node, struct arrow_box *box, const recmap_bytes *views,
                      uint64_t count, uint64_t row_count, arrow_row_end *row_end,
                      const void *context);

#endif
