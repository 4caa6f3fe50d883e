/* The rows of a new column: added, and reported if a record has two. */
#ifndef RECMAP_DATASET_ANNOTATE_COLUMN_ROWS_H
#define RECMAP_DATASET_ANNOTATE_COLUMN_ROWS_H

#include "dataset/annotate/annotation.h"

/* Adds a value of the column's type, or none, to each of the `count` records in
 * annotation->found. INVALID if there are now more values than records. */
recmap_status column_rows_add(recmap_annotation *annotation, struct new_column *column,
                              size_t count, const recmap_value *value, recmap_error *error);

/* The error INVALID for a record with two rows, of which there must be one. */
recmap_status column_rows_fail_repeat(recmap_annotation *annotation,
                                      const struct new_column *column, uint64_t number,
                                      recmap_error *error);

#endif
