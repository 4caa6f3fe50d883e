/* What a filler does differently if the order gives rows: an item of a step is a row, named by its
 * position in the epoch. */
#ifndef RECMAP_LOADER_FEED_ROWS_FILLER_H
#define RECMAP_LOADER_FEED_ROWS_FILLER_H

#include "loader/feed/filler.h"

/* Lets random pictures of the rows that are read next depend on the epoch. */
void rows_set_draws(recmap_batch *batch, const struct filler *filler, const recmap_deal *deal);

/* Fills a batch with the rows at some positions. Errors: as recmap_dataset_rows. */
recmap_status rows_fill(recmap_batch *batch, struct filler *filler, const recmap_deal *deal,
                        const uint64_t *positions, size_t count, recmap_error *error);

/* Fills `result->batch` with the rows at the filler's positions, less the bad ones, which the
 * loader's policy decides about. Errors: as rows_fill; if no substitute is found, what is wrong
 * with the row that needs one. */
recmap_status rows_fill_good(struct filled_batch *result, struct filler *filler,
                             const recmap_deal *deal, const recmap_share *share,
                             recmap_error *error);

#endif
