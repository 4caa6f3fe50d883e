/* The checksums within a compressed file: one in each member of a GZIP file, one in a ZLIB file. */
#ifndef RECMAP_DATASET_SPANS_STREAM_SUM_H
#define RECMAP_DATASET_SPANS_STREAM_SUM_H

#include "dataset/spans/span.h"

/* Inflates the whole file, and sets `is_right` if its streams are valid and their checksums match.
 * Damage makes a checksum wrong; another file that was written has the right ones. Errors: IO,
 * NO_MEMORY, CANCELLED. */
recmap_status stream_sum_check(bool *is_right, const struct span_source *source,
                               recmap_error *error);

#endif
