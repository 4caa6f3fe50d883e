/* Prints the pieces of rows, one row per line. */
#ifndef RECMAP_TOOLS_ORDERS_ROW_PRINTER_H
#define RECMAP_TOOLS_ORDERS_ROW_PRINTER_H

#include "orders/order_iterator.h"

enum row_format {
    ROW_TEXT, /* RECORD:FIRST:COUNT of each piece */
    ROW_JSON, /* an object with the row's position, its number and its pieces */
};

/* Writes the rows at all positions that are left to standard output. No shard is read. */
recmap_status row_printer_print(struct order_iterator *iterator, enum row_format format,
                                recmap_error *error);

#endif
