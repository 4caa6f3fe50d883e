#include "storage/remote/transfer_hedge.h"

#include "base/os/thread.h"

/* When a run asks again that may not hedge now. */
enum { ASK_AGAIN_MS = 20 };

#define NS_PER_MS 1000000ull

uint64_t hedge_delay_ns(recmap_storage *storage) {
    uint64_t delay_ns = UINT64_MAX;
    process_lock();
    const struct storage_figures *figures = &storage->figures;
    bool is_within_share = (figures->hedge_count + 1) * HEDGE_SHARE <= figures->request_count;
    if (is_within_share && figures->latency.count >= HEDGE_SAMPLES)
        delay_ns = latency_percentile(&figures->latency, 99);
    process_unlock();
    return delay_ns > HEDGE_MIN_MS * NS_PER_MS ? delay_ns : HEDGE_MIN_MS * NS_PER_MS;
}

/* Returns true if a request has no answer yet, and may be sent a second time. Objects of unknown
 * size and texts are requested rarely, and judged differently. */
static bool may_be_hedged(const struct slot *slot) {
    const struct run *run = slot->run;
    if (slot->index == SIZE_MAX || slot->first_ns || slot->range.accepts_shorter) return false;
    return !run->requests[slot->index].text && !run->attempts[slot->index].was_hedged;
}

struct slot *hedge_find(struct run *run, uint64_t delay_ns, uint64_t now) {
    run->hedge_due_ns = delay_ns == UINT64_MAX ? now + ASK_AGAIN_MS * NS_PER_MS : UINT64_MAX;
    for (size_t i = 0; delay_ns != UINT64_MAX && i < run->slot_count; i++) {
        struct slot *slot = &run->slots[i];
        if (!may_be_hedged(slot)) continue;
        uint64_t due_ns = slot->start_ns + delay_ns;
        if (due_ns <= now) {
            run->hedge_due_ns = now;
            return slot;
        }
        if (due_ns < run->hedge_due_ns) run->hedge_due_ns = due_ns;
    }
    return NULL;
}

void hedge_join(struct slot *slot, struct slot *second) {
    slot->twin = second;
    second->twin = slot;
}

struct slot *hedge_part(struct slot *slot) {
    struct slot *twin = slot->twin;
    if (twin) twin->twin = slot->twin = NULL;
    return twin;
}

void hedge_win(struct slot *slot) {
    struct slot *late = hedge_part(slot);
    if (!late) return;
    late->is_late = true;
    slot->run->late_count++;
}

struct slot *hedge_find_late(struct run *run) {
    for (size_t i = 0; run->late_count && i < run->slot_count; i++)
        if (run->slots[i].index != SIZE_MAX && run->slots[i].is_late) return &run->slots[i];
    return NULL;
}
