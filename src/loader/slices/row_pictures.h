/* Pictures of rows: the bytes that were cut from records become pixels. */
#ifndef RECMAP_LOADER_SLICES_ROW_PICTURES_H
#define RECMAP_LOADER_SLICES_ROW_PICTURES_H

#include "dataset/batch/batch.h"
#include "loader/slices/partial.h"

/* Decodes the pictures of all SLICED features, once the rows of the batch were cut. A picture that
 * several places of the batch have with the same draw is decoded once and copied. A place without
 * bytes gets zeros. Errors: FEATURE, with the byte in the record; NO_MEMORY; CANCELLED; CORRUPT if
 * partial_rows_fail was called. */
recmap_status row_pictures_read(recmap_batch *batch, struct partial_rows *partial,
                                recmap_error *error);

#endif
