/* Checks that all row orders make of their options. */
#ifndef RECMAP_ORDER_ROWS_ROW_OPTIONS_H
#define RECMAP_ORDER_ROWS_ROW_OPTIONS_H

#include <recmap/rows.h>

/* INVALID unless the options have the version that this library expects. */
recmap_status check_version(uint32_t version, uint32_t expected, recmap_error *error);

/* INVALID unless `value` is from `min` to RECMAP_ROW_SIZE_MAX. `what` names it in the message. */
recmap_status check_row_size(uint64_t value, uint64_t min, const char *what, recmap_error *error);

/* INVALID unless `value` is below `size`, the size of a row. `what` names the value in the message.
 */
recmap_status check_below_size(uint64_t value, uint64_t size, const char *what,
                               recmap_error *error);

/* CORRUPT: counts have changed since they were checked, when the order was created. */
recmap_status fail_changed(recmap_error *error);

#endif
