/* The lifted columns of an index, copied into the index of a copy of its records. */
#ifndef RECMAP_TOOLS_INDEXING_CARRIED_COLUMNS_H
#define RECMAP_TOOLS_INDEXING_CARRIED_COLUMNS_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Adds the lifted columns of `source` to the index at `path`, whose record i is a copy of record
 * numbers[i] of the source. The values come from the index, so columns that were added to it are
 * also carried over. Only columns that are annotated in the source are marked as annotated. Errors:
 * those of recmap_annotation_create and recmap_annotation_finish. */
recmap_status carried_columns_add(const char *path, recmap_dataset *source, const uint64_t *numbers,
                                  uint64_t count, recmap_error *error);

/* Returns true if the data set has lifted columns other than the sizes of its records. */
bool carried_columns_exist(const recmap_dataset *source);

#endif
