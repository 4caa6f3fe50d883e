/* Waypoints: positions within long deflate blocks at which a copy of the inflater was kept, so that
 * inflating can resume there. The index stores seek points at the ends of blocks only; within a
 * block the decoder's whole state is needed, about 90 KB, so waypoints exist only in memory, and
 * their number is bounded for each shard. */
#ifndef RECMAP_DATASET_SPANS_WAYPOINTS_H
#define RECMAP_DATASET_SPANS_WAYPOINTS_H

#include "format/deflate/inflate.h"

struct waypoints;

/* NULL when memory is out. */
struct waypoints *waypoints_create(void);
void waypoints_destroy(struct waypoints *waypoints);

/* Keeps a copy of the inflater if no other waypoint is near. At the limit, every other waypoint is
 * dropped. Without memory nothing is kept. Any thread may call it. */
void waypoints_add(struct waypoints *waypoints, const struct inflater *inflater);

/* Returns an inflater of `source` at the last waypoint in [min, max], or NULL if there is none or
 * no memory. Any thread may call it. */
struct inflater *waypoints_resume(const struct waypoints *waypoints, uint64_t min, uint64_t max,
                                  const struct inflate_source *source);

#endif
