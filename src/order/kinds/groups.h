/* Records sorted by group: the members of each group are adjacent, in ascending order. */
#ifndef RECMAP_ORDER_KINDS_GROUPS_H
#define RECMAP_ORDER_KINDS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "order/kinds/digest.h"

struct groups {
    uint32_t n;
    uint32_t count;
    uint32_t *first;             /* place of each group's first member; count + 1 of them */
    uint32_t *records;           /* by place */
    uint32_t *places;            /* by record */
    uint8_t digest[DIGEST_SIZE]; /* of what the records were sorted by */
};

/* Records with equal labels form a group; groups are in ascending order of their labels.
 * Asks the thread's interrupt. Errors: INVALID for 2^32 - 1 records or more; NO_MEMORY; CANCELLED.
 */
recmap_status groups_by_label(struct groups *groups, const int64_t *labels, size_t n,
                              recmap_error *error);

/* Group i has the values in [bounds[i-1], bounds[i]); the last group has the rest. Groups may be
 * empty. Errors: also INVALID for bounds that do not ascend. */
recmap_status groups_by_bounds(struct groups *groups, const int64_t *values, size_t n,
                               const int64_t *bounds, size_t bound_count, recmap_error *error);

void groups_deinit(struct groups *groups);

static inline uint32_t groups_size(const struct groups *groups, uint32_t group) {
    return groups->first[group + 1] - groups->first[group];
}

/* The group that contains a place. */
uint32_t groups_of_place(const struct groups *groups, uint32_t place);

#endif
