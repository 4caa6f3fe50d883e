#include "dataset/open/map_budget.h"

#include <assert.h>

#include "base/os/map.h"
#include "base/os/thread.h"

enum { LEFT_FOR_OTHERS = 16 };

/* Guarded by the process lock. */
static size_t taken;

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
