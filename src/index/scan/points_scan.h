/* Finds the seek points of a compressed shard whose records are known already. */
#ifndef RECMAP_INDEX_SCAN_POINTS_SCAN_H
#define RECMAP_INDEX_SCAN_POINTS_SCAN_H

#include <recmap/status.h>

#include "format/deflate/inflate.h"
#include "index/tables/points.h"

/* Inflates the whole shard, whose image must have `image_size` bytes, and takes the points and
 * checks that a scan of it takes. The caller deinits `points` also after an error. Errors: CORRUPT
 * if the shard does not inflate to an image of this size; IO; NO_MEMORY. */
recmap_status points_scan(struct point_list *points, enum compression kind,
                          const struct inflate_source *source, uint64_t image_size,
                          const char *path, recmap_error *error);

#endif
