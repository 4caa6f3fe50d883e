/* A blend assigns every position of a run to a source, and to one of the draws of that source.
 *
 * Positions are counted over all epochs. A blend consists of intervals, each with a schedule that
 * repeats until the next interval starts. The draws of a source continue from interval to interval.
 */
#ifndef RECMAP_ORDER_KINDS_BLEND_H
#define RECMAP_ORDER_KINDS_BLEND_H

#include <stdbool.h>

#include <recmap/order.h>

#include "order/kinds/schedule.h"

struct blend_interval {
    uint64_t start;
    struct schedule schedule;
    uint64_t *drawn; /* draws of each source before `start` */
};

struct blend {
    size_t source_count;
    size_t interval_count;
    struct blend_interval *intervals; /* ascending; the first one starts at 0 */
};

/* Fails with INVALID unless the changes ascend from position 0, and there are not too many. */
recmap_status blend_check_changes(const recmap_mixture_change *changes, size_t change_count,
                                  recmap_error *error);

/* From changes that were checked; each has `source_count` weights. On failure the blend is empty.
 * Asks the thread's interrupt. Errors: INVALID for weights; NO_MEMORY; CANCELLED. */
recmap_status blend_init(struct blend *blend, size_t source_count,
                         const recmap_mixture_change *changes, size_t change_count,
                         recmap_error *error);
void blend_deinit(struct blend *blend);

/* The interval that contains a position. */
const struct blend_interval *blend_interval_at(const struct blend *blend, uint64_t position);

/* Returns true if the interval contains the position. */
bool blend_contains(const struct blend *blend, const struct blend_interval *interval,
                    uint64_t position);

/* The number of draws of a source before a position. */
uint64_t blend_draws_before(const struct blend *blend, size_t source, uint64_t position);

/* The position of draw number `drawn` of a source, which must occur. */
uint64_t blend_position_of(const struct blend *blend, size_t source, uint64_t drawn);

/* Returns true if a source ever has a share. */
bool blend_uses(const struct blend *blend, size_t source);

/* A bound, exact in whole periods, of the number of positions that contain `drawn` draws of a
 * source: the largest that contains no further draw, or with `is_upper` the smallest that contains
 * all of these; docs/formats/order.md, "Epoch". UINT64_MAX if the source is not drawn so often. */
uint64_t blend_length(const struct blend *blend, size_t source, uint64_t drawn, bool is_upper);

#endif
