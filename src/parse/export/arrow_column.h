/* Describes a column as an Arrow node. */
#ifndef RECMAP_PARSE_EXPORT_ARROW_COLUMN_H
#define RECMAP_PARSE_EXPORT_ARROW_COLUMN_H

#include "parse/export/arrow_box.h"

/* Describes column `column_index` of the plan with the data of `memory`, or only its field if
 * `memory` is NULL. Returns false if memory runs out. */
bool arrow_column_init(struct arrow_node *node, struct arrow_box *box, const recmap_parser *parser,
                       const struct batch_memory *memory, size_t column_index);

#endif
