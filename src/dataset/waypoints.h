/* Places within long deflate blocks from which inflating was seen to go on. What the index keeps
 * are ends of blocks; within one the decoder's whole state is needed, some 90 KB, so that these are
 * kept in memory alone, a bounded number a shard. */
#ifndef RECMAP_DATASET_WAYPOINTS_H
#define RECMAP_DATASET_WAYPOINTS_H

#include "format/inflate.h"

typedef struct waypoints waypoints;

/* NULL when memory is out. */
waypoints *waypoints_create(void);
void waypoints_destroy(waypoints *ended);

/* Keeps a copy of where `in` stands, if none is near. Where there are many every other goes.
 * Without memory nothing is kept. Threads: any. */
void waypoints_add(waypoints *to, const inflater *in);

/* An inflater of `source` that stands at the last of them in [least, most]. NULL: there is none, or
 * memory is out. Threads: any. */
inflater *waypoints_resume(const waypoints *from, uint64_t least, uint64_t most,
                           const inflate_source *source);

#endif
