/* Leaving out and replacing the bad items of a step: records, or rows of a row order. An item is
 * bad if it is damaged or cannot be parsed.
 *
 * repair_next decides about each bad item. Records are decided about while they are parsed, by the
 * parser itself (row_repair.h), so that no other record of the step is read or parsed again, in
 * particular no picture decoded; records that are not parsed, after they are gathered. Rows of a
 * row order are an exception, see rows_filler.c. */
#ifndef RECMAP_LOADER_FEED_REPAIR_H
#define RECMAP_LOADER_FEED_REPAIR_H

#include "loader/feed/filler.h"
#include "parse/columns/row_repair.h"

struct repair {
    struct filled_batch *result; /* lists what is skipped */
    const struct filler *filler;
    const recmap_deal *deal;
    uint64_t first;       /* the position of item 0 */
    size_t first_record;  /* the index in the batch of item 0, if items are records */
    recmap_batch *memory; /* where copies of records live */
    bool has_failed;      /* an item failed: the one at `index` is the last that did */
    size_t index;
    uint64_t tries; /* substitutes tried for it */
    uint8_t *copy;  /* memory for a substitute's bytes */
    size_t copy_capacity;
};

/* Decides about the bad item at `index`, which has this number. If a substitute turns out to be bad
 * as well, it is called again for the same index. ROW_REPLACED sets `candidate` to the number of
 * the substitute to try next. Rows have their positions as numbers. */
recmap_status repair_next(enum row_choice *choice, uint64_t *candidate, struct repair *repair,
                          size_t index, uint64_t number, recmap_error *error);

/* The function of a row_repair whose context is a repair of records. The batch's record becomes the
 * one that was chosen. */
recmap_status repair_choose(enum row_choice *choice, recmap_record *record, void *context,
                            size_t index, recmap_error *error);

/* Removes the records that were left out, as the columns did with their rows. */
void repair_close_up(recmap_batch *batch);

/* Parses the records of `result->batch`, if there is a parser, and repairs those that are in
 * `result->lost` or cannot be parsed. `first` is the position of the first one. Errors: as
 * recmap_dataset_parse; if no substitute is found, what is wrong with the record that needs one.
 * The batch is then empty. */
recmap_status repair_records(struct filled_batch *result, const struct filler *filler,
                             const recmap_deal *deal, uint64_t first, recmap_error *error);

#endif
