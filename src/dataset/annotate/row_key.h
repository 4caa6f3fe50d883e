/* The records that the key of a row names, and the rows that name none. */
#ifndef RECMAP_DATASET_ANNOTATE_ROW_KEY_H
#define RECMAP_DATASET_ANNOTATE_ROW_KEY_H

#include "dataset/annotate/annotation.h"
#include "dataset/annotate/table.h"

/* The records that a key names, in annotation->found. The count is 0 if there is not a key.
 */
recmap_status row_key_find(size_t *count, recmap_annotation *annotation, recmap_key key,
                           const recmap_value *value, recmap_error *error);

/* Sets annotation->found[i], which is the last one so far. False if memory runs out. */
bool row_key_keep_found(recmap_annotation *annotation, size_t i, uint64_t number);

/* The same for a row of a file. `value` receives the key. INVALID, naming the line, if it is not a
 * key.
 */
recmap_status row_key_find_records(size_t *count, recmap_value *value,
                                   recmap_annotation *annotation, const struct table *table,
                                   const struct table_row *row, recmap_error *error);

/* INVALID if records are named by id and the index has no ids. */
recmap_status row_key_check(const recmap_annotation *annotation, recmap_key key,
                            recmap_error *error);

/* Counts a row whose key no record has, and keeps `first` if it is the first one. */
recmap_status row_key_note_unmatched(struct new_column *column, const recmap_error *first,
                                     recmap_error *error);

/* INVALID if a column has rows whose key no record has, unless they are ignored. */
recmap_status row_key_check_unmatched(const recmap_annotation *annotation, recmap_error *error);

/* The error INVALID, without a place, for a key that no record has. */
recmap_status row_key_fail(const recmap_annotation *annotation, recmap_key key,
                           const recmap_value *value, recmap_error *error);

#endif
