/* The order of a run, from a state of it. */
#ifndef RECMAP_TOOLS_ORDERS_STATE_ORDER_H
#define RECMAP_TOOLS_ORDERS_STATE_ORDER_H

#include <recmap/state.h>

#include "orders/row_options.h"

/* Reads a state that was saved as JSON. The caller destroys it. Returns 0, or the exit status after
 * printing the error. */
int state_read(recmap_state **state, const char *path);

/* Creates the order of the state over the data set, which must be those of the state. `rows` may
 * name the counted feature that rows are made from. The caller releases it. Returns 0, or the exit
 * status after printing the error. */
int state_order_create(recmap_order **order, const recmap_state *state, const char *path,
                       const struct row_options *rows, recmap_dataset *dataset,
                       const struct args *args);

#endif
