#include "dataset/open/map_budget.h"

#include <assert.h>

#include "base/core/bytes.h"
#include "base/os/map.h"
#include "base/os/thread.h"

enum { LEFT_FOR_OTHERS = 16, CALLS_MIN = 64 };

/* Guarded by the process lock. */
static size_t taken;
static size_t calls_left; /* until the maps are counted again */
static bool is_nearly_full;

size_t map_budget_limit(void) {
    return map_count_max() / 2;
}

static size_t share_of(size_t left, size_t wanted) {
    if (wanted <= left) return wanted;
    size_t share = left / LEFT_FOR_OTHERS;
    return share > MAP_SHARE_MIN ? share : MAP_SHARE_MIN;
}

size_t map_budget_take(size_t wanted) {
    size_t limit = map_budget_limit();
    process_lock();
    size_t share = share_of(taken < limit ? limit - taken : 0, wanted);
    taken += share;
    process_unlock();
    return share;
}

void map_budget_give(size_t count) {
    process_lock();
    assert(count <= taken);
    taken -= count;
    process_unlock();
}

/* What an application maps is only known by counting all maps, which takes time for each of them.
 * So they are counted again after a number of calls that grows with their number. These calls
 * make hardly more maps than there is room for. */
static void count_maps(void) {
    size_t count = map_count(), max = map_count_max(), limit = max - max / LEFT_FOR_OTHERS;
    is_nearly_full = count >= limit;
    calls_left = CALLS_MIN;
    if (!is_nearly_full) calls_left += (size_t)min_u64(count / LEFT_FOR_OTHERS, limit - count);
}

bool map_budget_has_room(void) {
    process_lock();
    if (!calls_left) count_maps();
    calls_left--;
    bool has_room = !is_nearly_full;
    process_unlock();
    return has_room;
}
