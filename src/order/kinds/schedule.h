/* A schedule assigns each slot of a period to a source, in exact proportions.
 *
 * Consider all assignments of `period` slots in which, for every t, the first t slots contain each
 * source's exact share of t, rounded up or down. The schedule is the lexicographically first one.
 */
#ifndef RECMAP_ORDER_KINDS_SCHEDULE_H
#define RECMAP_ORDER_KINDS_SCHEDULE_H

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
    uint32_t *shares;     /* slots of each source, maybe 0; their sum is the period */
    uint32_t *first_turn; /* index into `places` of each source's turn 0 */
    struct schedule_slot *slots;
    uint32_t *places; /* slot of each turn, source by source */
};

#define SCHEDULE_INIT                                                                              \
    { 0, 0, NULL, NULL, NULL, NULL }

/* A source with weight 0 gets no slot, and the shares of the others are what they would be without
 * it. Asks the thread's interrupt. Errors: INVALID for weights that are negative or not finite, or
 * all 0; NO_MEMORY; CANCELLED. Cost: up to PROPORTION_MAX * source_count steps. */
recmap_status schedule_init(struct schedule *schedule, const double *weights, size_t source_count,
                            recmap_error *error);
void schedule_deinit(struct schedule *schedule);

/* Slots of a source among the first `slot` slots, which are at most a period. */
uint32_t schedule_turns_before(const struct schedule *schedule, size_t source, uint32_t slot);

#endif
