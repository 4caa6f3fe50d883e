/* Skipping and replacing the bad records of a step while the step is parsed. */
#ifndef RECMAP_LOADER_FEED_REPAIR_H
#define RECMAP_LOADER_FEED_REPAIR_H

#include "loader/feed/filler.h"

/* Returns true if the filler repairs the records of this deal while they are parsed. It does so if
 * the parser has images, so that no picture is decoded twice; other steps are parsed again. */
bool repair_applies(const struct filler *filler, const recmap_deal *deal);

/* Parses the records of `result->batch`, which are those of `filler->numbers`. Without `was_read`
 * they are gathered first. Errors: as recmap_dataset_parse; if no substitute is found, what is
 * wrong with the record that needs one. */
recmap_status repair_parse(struct filled_batch *result, struct filler *filler,
                           const recmap_deal *deal, const recmap_share *share, bool was_read,
                           recmap_error *error);

#endif
