/* Columns whose values are read from a file. */
#ifndef RECMAP_DATASET_ANNOTATE_COLUMN_FILE_H
#define RECMAP_DATASET_ANNOTATE_COLUMN_FILE_H

#include "dataset/annotate/annotation.h"

/* The error INVALID for a record to which two rows of the column's file give a value, with the
 * lines of the rows. */
recmap_status column_file_fail_repeat(recmap_annotation *annotation,
                                      const struct new_column *column, uint64_t number,
                                      recmap_error *error);

#endif
