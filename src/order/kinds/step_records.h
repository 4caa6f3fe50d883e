/* The records of a share of a step, of records or rows. */
#ifndef RECMAP_ORDER_KINDS_STEP_RECORDS_H
#define RECMAP_ORDER_KINDS_STEP_RECORDS_H

#include <recmap/rows.h>

/* All zeros: empty. */
struct step_records {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
    recmap_pieces pieces; /* of rows */
};

/* Lists the records of a share, or those that its rows are cut from, which may repeat. The list is
 * empty after an error: as recmap_deal_numbers and recmap_order_pieces. */
recmap_status step_records_fill(struct step_records *list, const recmap_deal *deal,
                                const recmap_share *share, recmap_error *error);
void step_records_deinit(struct step_records *list);

#endif
