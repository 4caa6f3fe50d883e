#include "dataset/waypoints.h"

#include <stdlib.h>

#include "base/array.h"
#include "dataset/span.h"
#include "os/thread.h"

enum { WAYPOINTS_MAX = 512 };

struct waypoints {
    struct inflater **copies; /* ordered by offset */
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
    for (size_t i = 0; i < waypoints->count; i++) inflater_destroy(waypoints->copies[i]);
    free(waypoints->copies);
    free(waypoints);
}

/* The number of waypoints at or before the offset. */
static size_t count_to(const struct waypoints *waypoints, uint64_t offset) {
    size_t low = 0, high = waypoints->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (inflater_offset(waypoints->copies[middle]) <= offset) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Drops every other waypoint and doubles the distance. */
static void thin_out(struct waypoints *waypoints) {
    size_t kept = 0;
    for (size_t i = 0; i < waypoints->count; i++) {
        if (i % 2) waypoints->copies[kept++] = waypoints->copies[i];
        else inflater_destroy(waypoints->copies[i]);
    }
    waypoints->count = kept;
    waypoints->distance_min *= 2;
}

/* Whether no other waypoint is near the offset. The caller holds the lock. */
static bool is_far_enough(const struct waypoints *waypoints, uint64_t offset) {
    size_t following = count_to(waypoints, offset);
    return (!following || offset - inflater_offset(waypoints->copies[following - 1]) >=
                              waypoints->distance_min) &&
           (following == waypoints->count ||
            inflater_offset(waypoints->copies[following]) - offset >= waypoints->distance_min);
}

void waypoints_add(struct waypoints *waypoints, const struct inflater *inflater) {
    uint64_t offset = inflater_offset(inflater);
    process_lock();
    bool keeps = is_far_enough(waypoints, offset) &&
                 array_reserve(&waypoints->copies, &waypoints->capacity, waypoints->count + 1,
                               sizeof *waypoints->copies);
    struct inflater *copy = keeps ? inflater_copy(inflater, NULL) : NULL;
    if (copy) {
        size_t place = count_to(waypoints, offset);
        for (size_t i = waypoints->count++; i > place; i--)
            waypoints->copies[i] = waypoints->copies[i - 1];
        waypoints->copies[place] = copy;
        if (waypoints->count == WAYPOINTS_MAX) thin_out(waypoints);
    }
    process_unlock();
}

struct inflater *waypoints_resume(const struct waypoints *waypoints, uint64_t min, uint64_t max,
                                  const struct inflate_source *source) {
    struct inflater *found = NULL;
    process_lock();
    size_t following = count_to(waypoints, max);
    if (following && inflater_offset(waypoints->copies[following - 1]) >= min)
        found = inflater_copy(waypoints->copies[following - 1], source);
    process_unlock();
    return found;
}
