#include "index/scan/point_taker.h"

/* How often to decide whether a point is due. Points are the same for the same file only if this
 * never changes. */
enum { POINT_INTERVAL = 1 << 20 };

/* Distance of points in the image: as close as the index can afford, which is a 64th of the
 * compressed size, but never beyond the maximum, so that the cost of reading a record is bounded.
 */
#define POINT_DISTANCE_MIN ((uint64_t)1 << 20)
#define POINT_DISTANCE_MAX ((uint64_t)4 << 20)
enum { POINTS_SHARE = 64 };

static bool point_is_due(const struct point_taker *taker, const struct inflater *inflater,
                         uint64_t image_end) {
    if (taker->needs_point) return true;
    /* The last point may lie past what has been inflated so far. */
    uint64_t distance = image_end > taker->last_point ? image_end - taker->last_point : 0;
    if (distance < POINT_DISTANCE_MIN) return false;
    if (distance >= POINT_DISTANCE_MAX) return true;
    const struct point_list *points = taker->points;
    uint64_t next = points->count ? points_size(points) / points->count : INFLATE_WINDOW_MAX / 2;
    return (points_size(points) + next) * POINTS_SHARE <= inflater_position(inflater);
}

size_t point_taker_decide(struct point_taker *taker, const struct inflater *inflater,
                          uint64_t image_end) {
    if (!taker->undecided_size) {
        taker->undecided_size = POINT_INTERVAL;
        taker->is_due = point_is_due(taker, inflater, image_end);
    }
    return taker->undecided_size;
}

void point_taker_advance(struct point_taker *taker, enum inflate_verdict verdict, size_t size) {
    taker->undecided_size = verdict == INFLATE_OK ? taker->undecided_size - size : 0;
}

bool point_taker_take(struct point_taker *taker, const struct inflater *inflater) {
    struct seek_point point = inflater_point(inflater);
    taker->last_point = point.offset;
    taker->needs_point = false;
    /* An empty member puts two points at the same offset: one is enough. */
    const struct point_list *points = taker->points;
    if (!point.offset || (points->count && points->at[points->count - 1].offset == point.offset))
        return true;
    return points_add(taker->points, &point);
}
