/* A schedule: which source each slot of a period belongs to, in exact proportions.
 *
 * Of all ways to fill `period` slots in which each source has, of the first t slots for every t,
 * its exact share of t rounded up or down, it is the first in dictionary order. */
#ifndef RECMAP_ORDER_SCHEDULE_H
#define RECMAP_ORDER_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

struct schedule_slot {
    uint32_t source;
    uint32_t turn; /* slots of the same source before this one */
};

struct schedule {
    uint32_t period;
    size_t source_count;
    uint32_t *shares;     /* slots of each source; their sum is the period */
    uint32_t *first_turn; /* index into `places` of each source's turn 0 */
    struct schedule_slot *slots;
    uint32_t *places; /* slot of each turn, source by source */
};

#define SCHEDULE_INIT                                                                              \
    { 0, 0, NULL, NULL, NULL, NULL }

/* From weights above 0 that weights_to_integers has made. Errors: NO_MEMORY. */
recmap_status schedule_create(struct schedule *schedule, const uint64_t *weights, uint64_t sum,
                              size_t source_count, recmap_error *error);
void schedule_destroy(struct schedule *schedule);

#endif
