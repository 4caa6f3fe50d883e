/* What a filler does differently if the order gives rows: an item of a step is a row, named by its
 * position in the epoch. */
#ifndef RECMAP_LOADER_FEED_ROWS_FILLER_H
#define RECMAP_LOADER_FEED_ROWS_FILLER_H

#include "loader/feed/filler.h"

/* Fills a batch with the rows at some positions. Errors: as recmap_dataset_rows. */
recmap_status rows_fill(recmap_batch *batch, struct filler *filler, const recmap_deal *deal,
                        const uint64_t *positions, size_t count, recmap_error *error);

/* Returns true if a record of the row is bad; then `error` says why. Other failures are returned.
 */
recmap_status rows_probe(bool *is_bad, struct filler *filler, const recmap_deal *deal,
                         uint64_t position, recmap_error *error);

/* Replaces the positions of a skipped row and its substitute by their row numbers. */
recmap_status rows_name_skipped(recmap_skipped *skipped, const recmap_deal *deal,
                                recmap_error *error);

#endif
