#include "dataset/spans/waypoints.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/search.h"
#include "base/os/thread.h"
#include "dataset/spans/span.h"

enum { WAYPOINTS_MAX = 512 };

struct waypoint {
    uint64_t offset; /* in the inflated image */
    struct inflater *copy;
};

struct waypoints {
    struct waypoint *items; /* ordered by offset */
    size_t count;
    size_t capacity;
    uint64_t distance_min; /* between two waypoints */
};

struct waypoints *waypoints_create(void) {
    struct waypoints *fresh = calloc(1, sizeof *fresh);
    if (fresh) fresh->distance_min = SPAN_PIECE;
    return fresh;
}

void waypoints_destroy(struct waypoints *waypoints) {
    if (!waypoints) return;
    for (size_t i = 0; i < waypoints->count; i++) inflater_destroy(waypoints->items[i].copy);
    free(waypoints->items);
    free(waypoints);
}

/* The number of waypoints at or before the offset. */
static size_t count_to(const struct waypoints *waypoints, uint64_t offset) {
    if (!waypoints->count || offset == UINT64_MAX) return waypoints->count;
    return search_below(&waypoints->items->offset, sizeof *waypoints->items, waypoints->count,
                        offset + 1);
}

/* Drops every other waypoint and doubles the distance. */
static void thin_out(struct waypoints *waypoints) {
    assert(waypoints->count <= WAYPOINTS_MAX);
    size_t kept_count = 0;
    for (size_t i = 0; i < waypoints->count; i++) {
        if (i % 2) waypoints->items[kept_count++] = waypoints->items[i];
        else inflater_destroy(waypoints->items[i].copy);
    }
    waypoints->count = kept_count;
    waypoints->distance_min *= 2;
}

/* Returns true if no other waypoint is near the offset. The caller holds the lock. */
static bool is_far_enough(const struct waypoints *waypoints, uint64_t offset) {
    size_t following = count_to(waypoints, offset);
    return (!following ||
            offset - waypoints->items[following - 1].offset >= waypoints->distance_min) &&
           (following == waypoints->count ||
            waypoints->items[following].offset - offset >= waypoints->distance_min);
}

void waypoints_add(struct waypoints *waypoints, const struct inflater *inflater) {
    uint64_t offset = inflater_offset(inflater);
    process_lock();
    bool keeps = is_far_enough(waypoints, offset) &&
                 array_reserve(&waypoints->items, &waypoints->capacity, waypoints->count + 1,
                               sizeof *waypoints->items);
    struct inflater *copy = keeps ? inflater_copy(inflater, NULL) : NULL;
    if (copy) {
        size_t place = count_to(waypoints, offset);
        for (size_t i = waypoints->count++; i > place; i--)
            waypoints->items[i] = waypoints->items[i - 1];
        waypoints->items[place] = (struct waypoint){offset, copy};
        assert(!place || waypoints->items[place - 1].offset < offset);
        if (waypoints->count == WAYPOINTS_MAX) thin_out(waypoints);
    }
    process_unlock();
}

struct inflater *waypoints_resume(const struct waypoints *waypoints, uint64_t min, uint64_t max,
                                  const struct inflate_source *source) {
    struct inflater *inflater = NULL;
    process_lock();
    size_t following = count_to(waypoints, max);
    if (following && waypoints->items[following - 1].offset >= min)
        inflater = inflater_copy(waypoints->items[following - 1].copy, source);
    process_unlock();
    return inflater;
}
