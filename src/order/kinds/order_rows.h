/* What an order says of its rows. Mixtures and views say it of the rows of their sources. */
#ifndef RECMAP_ORDER_KINDS_ORDER_ROWS_H
#define RECMAP_ORDER_KINDS_ORDER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* The sources of a mixture add different numbers of elements. */
#define ROW_ADD_MIXED UINT64_MAX

struct order_rows {
    uint64_t width;         /* the largest number of elements of a row; 0 for orders over records */
    uint64_t add;           /* elements added to each document, or ROW_ADD_MIXED */
    bool has_windows;       /* each row has one piece */
    double fill;            /* of a packed order */
    uint64_t element_count; /* of all records, added ones included; 0 in a mixture */
    uint64_t left_out;      /* of these elements, those that no row of an epoch has */
};

/* `used`: the elements that rows have. It can only exceed the total if the counts were changed. */
static inline void order_rows_set_elements(struct order_rows *rows, uint64_t total, uint64_t used) {
    rows->element_count = total;
    rows->left_out = used < total ? total - used : 0;
}

#endif
