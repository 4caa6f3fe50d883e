/* Places within long deflate blocks from which inflating was seen to go on. What the index keeps
 * are ends of blocks; within one the decoder's whole state is needed, some 90 KB, so that these are
 * kept in memory alone, a bounded number a shard. */
#ifndef RECMAP_DATASET_WAYPOINTS_H
#define RECMAP_DATASET_WAYPOINTS_H

#include "format/inflate.h"

struct waypoints;

/* NULL when memory is out. */
struct waypoints *waypoints_create(void);
void waypoints_destroy(struct waypoints *waypoints);

/* Keeps a copy of where `in` stands, if none is near. Where there are many every other goes.
 * Without memory nothing is kept. Threads: any. */
void waypoints_add(struct waypoints *waypoints, const struct inflater *inflater);

/* An inflater of `source` that stands at the last of them in [least, most]. NULL: there is none, or
 * memory is out. Threads: any. */
struct inflater *waypoints_resume(const struct waypoints *waypoints, uint64_t least, uint64_t most,
                                  const struct inflate_source *source);

#endif
