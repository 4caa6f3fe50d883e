/* The records of a share of a step, of records or rows. */
#ifndef RECMAP_ORDER_KINDS_RECORD_LIST_H
#define RECMAP_ORDER_KINDS_RECORD_LIST_H

#include <recmap/rows.h>

/* All zeros: empty. */
struct record_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
    recmap_pieces pieces; /* of rows */
};

/* Lists the records of a share, or those that its rows are cut from, which may repeat. The list is
 * empty after an error: as recmap_deal_numbers and recmap_order_pieces. */
recmap_status record_list_fill(struct record_list *list, const recmap_deal *deal,
                               const recmap_share *share, recmap_error *error);
void record_list_deinit(struct record_list *list);

#endif
