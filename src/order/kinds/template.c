#include "order/kinds/template.h"

#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"

enum { TURN_WORK = 64, PUSH_WORK = 8 }; /* for the interrupt, in bytes */

/* A group's next turn. It is scheduled at its release slot or later, and before its deadline. */
struct turn {
    uint32_t key; /* release or deadline, whichever the heap is sorted by */
    uint32_t group;
};

/* A binary heap: smallest key first, then smallest group. */
struct heap {
    struct turn *turns;
    size_t count;
};

static int is_before(struct turn a, struct turn b) {
    return a.key != b.key ? a.key < b.key : a.group < b.group;
}

static void heap_push(struct heap *heap, struct turn added) {
    size_t i = heap->count++;
    while (i && is_before(added, heap->turns[(i - 1) / 2])) {
        heap->turns[i] = heap->turns[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->turns[i] = added;
}

static struct turn heap_pop(struct heap *heap) {
    struct turn first = heap->turns[0], moved = heap->turns[--heap->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count && is_before(heap->turns[child + 1], heap->turns[child]))
            child++;
        if (!is_before(heap->turns[child], moved)) break;
        heap->turns[i] = heap->turns[child];
    }
    heap->turns[i] = moved;
    return first;
}

static uint32_t release_of(const struct groups *groups, uint32_t group, uint32_t turn) {
    return (uint32_t)((uint64_t)turn * groups->n / groups_size(groups, group));
}

static uint32_t deadline_of(const struct groups *groups, uint32_t group, uint32_t turn) {
    uint64_t size = groups_size(groups, group);
    return (uint32_t)((((uint64_t)turn + 1) * groups->n + size - 1) / size);
}

/* Asks the thread's interrupt: with many groups, each turn takes a microsecond, and all groups are
 * released before the first slot. */
static recmap_status fill(uint32_t *places, uint32_t *positions, const struct groups *groups,
                          struct heap *heap, struct heap *ready, uint32_t *turns,
                          recmap_error *error) {
    for (uint32_t g = 0; g < groups->count; g++) {
        if (groups_size(groups, g)) heap_push(heap, (struct turn){0, g});
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PUSH_WORK, error));
    }
    for (uint32_t slot = 0; slot < groups->n; slot++) {
        while (heap->count && heap->turns[0].key <= slot) {
            uint32_t group = heap_pop(heap).group;
            heap_push(ready, (struct turn){deadline_of(groups, group, turns[group]), group});
            RETURN_IF_FAILED(interrupt_check(thread_interrupt(), TURN_WORK, error));
        }
        uint32_t group = heap_pop(ready).group;
        uint32_t place = groups->first[group] + turns[group]++;
        places[slot] = place;
        positions[place] = slot;
        if (turns[group] < groups_size(groups, group))
            heap_push(heap, (struct turn){release_of(groups, group, turns[group]), group});
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), TURN_WORK, error));
    }
    return RECMAP_OK;
}

recmap_status template_create(uint32_t *places, uint32_t *positions, const struct groups *groups,
                              recmap_error *error) {
    struct heap waiting = {calloc(groups->count, sizeof(struct turn)), 0};
    struct heap ready = {calloc(groups->count, sizeof(struct turn)), 0};
    uint32_t *turns = calloc(groups->count, sizeof *turns);
    recmap_status status = waiting.turns && ready.turns && turns
                               ? fill(places, positions, groups, &waiting, &ready, turns, error)
                               : fail_memory(error);
    free(waiting.turns);
    free(ready.turns);
    free(turns);
    return status;
}
