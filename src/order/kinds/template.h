/* A template of stratified batches: the member of a group at each position, such that every group
 * is spread evenly over all positions. */
#ifndef RECMAP_ORDER_KINDS_TEMPLATE_H
#define RECMAP_ORDER_KINDS_TEMPLATE_H

#include "order/kinds/groups.h"

/* Computes the template: the first t positions, for every t, contain each group's exact share of t,
 * rounded up or down. `places` receives the place (in `groups`) for each of the n positions, the
 * members of a group in turn; `positions` the inverse. Each slot is assigned to the group with the
 * earliest deadline of those that may take it, and the first of equal ones. Asks the thread's
 * interrupt. Errors: NO_MEMORY; CANCELLED. Cost: O(n log groups). */
recmap_status template_create(uint32_t *places, uint32_t *positions, const struct groups *groups,
                              recmap_error *error);

#endif
