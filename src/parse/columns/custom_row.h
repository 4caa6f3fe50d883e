/* Rows filled by a user's function instead of a tf.Example. */
#ifndef RECMAP_PARSE_COLUMNS_CUSTOM_ROW_H
#define RECMAP_PARSE_COLUMNS_CUSTOM_ROW_H

#include "parse/columns/batch_memory.h"
#include "parse/decode/read_fault.h"

/* Returns RECMAP_INVALID if a custom parser cannot fill these features: it supports columns of a
 * single slot only. */
recmap_status custom_row_check(const recmap_feature *features, size_t count, recmap_error *error);

/* Calls the plan's function to fill row `row`. Returns false and fills `fault` on failure; the
 * caller must then roll the row back. */
bool custom_row_read(struct batch_memory *memory, const recmap_record *record, size_t row,
                     struct read_fault *fault);

#endif
