/* Chooses the seek points of a compressed shard while it is inflated from its beginning. */
#ifndef RECMAP_INDEX_SCAN_POINT_TAKER_H
#define RECMAP_INDEX_SCAN_POINT_TAKER_H

#include "format/deflate/inflate.h"
#include "index/tables/points.h"

/* The chosen points depend on the file alone, not on the sizes of reads. */
struct point_taker {
    struct point_list *points;
    uint64_t last_point;   /* offset of the last point */
    size_t undecided_size; /* bytes until it is decided again whether a point is due */
    bool is_due;           /* the last decision */
    bool needs_point;      /* after damage, no other point leads to what follows */
};

/* Before a read: decides whether the inflater should stop at its next point. The image was inflated
 * up to `image_end`. Returns the maximum size of the read. */
size_t point_taker_decide(struct point_taker *taker, const struct inflater *inflater,
                          uint64_t image_end);

/* After a read of `size` bytes. */
void point_taker_advance(struct point_taker *taker, enum inflate_verdict verdict, size_t size);

/* Takes the point at which the inflater stopped. False if memory is out. */
bool point_taker_take(struct point_taker *taker, const struct inflater *inflater);

#endif
