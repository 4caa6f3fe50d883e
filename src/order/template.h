/* A template of stratified batches: which member of which group stands at each position, so that
 * every group is spread evenly over all positions. */
#ifndef RECMAP_ORDER_TEMPLATE_H
#define RECMAP_ORDER_TEMPLATE_H

#include "order/groups.h"

/* Of the first t positions each group has its exact share of t, rounded up or down. `places` gets
 * the place (of groups) for each of the n positions, the members of a group in turn; `positions`
 * the inverse. Each slot goes to the earliest deadline among the groups that may take it, the first
 * of equal ones. Errors: NO_MEMORY. Cost: O(n log groups). */
recmap_status template_create(uint32_t *places, uint32_t *positions, const struct groups *groups,
                              recmap_error *error);

#endif
