/* Rows that a user's own function fills: its values go where those of a tf.Example would. */
#ifndef RECMAP_COLUMNS_OWN_ROW_H
#define RECMAP_COLUMNS_OWN_ROW_H

#include "columns/batch_memory.h"
#include "decode/read_fault.h"

/* What a parser of a user's own may ask for: a column of one slot. Errors: INVALID. */
recmap_status own_row_check(const recmap_feature *features, size_t count, recmap_error *error);

/* Fills row `row` by the plan's function. False with `fault` filled; the row is then to be rolled
 * back. */
bool own_row_read(struct batch_memory *memory, const recmap_record *record, size_t row,
                  struct read_fault *fault);

#endif
