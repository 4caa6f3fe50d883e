/* Cuts rows from the records of a batch into its columns. */
#ifndef RECMAP_LOADER_SLICES_ROWS_H
#define RECMAP_LOADER_SLICES_ROWS_H

#include "dataset/batch/batch.h"
#include "loader/slices/partial.h"

/* Returns true if a loader or recmap_dataset_rows can read rows of the order with this parser.
 * Errors: INVALID, naming the feature. */
recmap_status rows_check(const recmap_dataset *dataset, const recmap_order *order,
                         const recmap_parser *parser, recmap_error *error);

/* Cuts the columns of the batch, whose pieces and records, or what `partial` says of them, are
 * there, and reserves memory for the pixels of its pictures. The columns are not assembled. Errors:
 * CORRUPT, FEATURE, with the byte in the record; NO_MEMORY; CANCELLED. */
recmap_status rows_cut(recmap_batch *batch, struct partial_rows *partial, recmap_error *error);

#endif
