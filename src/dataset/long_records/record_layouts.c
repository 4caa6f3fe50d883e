#include "dataset/long_records/record_layouts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/thread.h"

enum { PLACES = 4096 };

struct kept_layout {
    struct record_layout layout;
    size_t list_count;
    struct list_place lists[];
};

/* A record has one place and evicts what was there. Only a thread that finds its record's number at
 * the place takes the process lock. */
struct record_layouts {
    _Atomic(uint64_t) numbers[PLACES];  /* record number + 1 */
    struct kept_layout *places[PLACES]; /* process lock */
};

struct record_layouts *record_layouts_create(void) {
    return calloc(1, sizeof(struct record_layouts));
}

void record_layouts_destroy(struct record_layouts *layouts) {
    for (size_t i = 0; layouts && i < PLACES; i++) free(layouts->places[i]);
    free(layouts);
}

static size_t place_of(uint64_t record) {
    return (size_t)(record * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PLACES;
}

static void put(struct record_layouts *layouts, uint64_t record, struct kept_layout *entry) {
    size_t place = place_of(record);
    process_lock();
    struct kept_layout *evicted = layouts->places[place];
    layouts->places[place] = entry;
    atomic_store_explicit(&layouts->numbers[place], entry ? record + 1 : 0, memory_order_relaxed);
    process_unlock();
    free(evicted);
}

void record_layouts_keep(struct record_layouts *layouts, const struct record_layout *layout,
                         const struct list_place *lists, size_t list_count) {
    struct kept_layout *entry = malloc(sizeof *entry + list_count * sizeof *lists);
    if (!entry) return;
    entry->layout = *layout;
    entry->list_count = list_count;
    memcpy(entry->lists, lists, list_count * sizeof *lists);
    put(layouts, layout->record, entry);
}

void record_layouts_forget(struct record_layouts *layouts, uint64_t record) {
    put(layouts, record, NULL);
}

bool record_layouts_find(struct record_layout *layout, struct list_place *lists, size_t list_count,
                         struct record_layouts *layouts) {
    size_t place = place_of(layout->record);
    if (atomic_load_explicit(&layouts->numbers[place], memory_order_relaxed) != layout->record + 1)
        return false;
    process_lock();
    const struct kept_layout *entry = layouts->places[place];
    bool is_found = entry && entry->layout.record == layout->record &&
                    entry->layout.parser_id == layout->parser_id && entry->list_count == list_count;
    if (is_found) {
        *layout = entry->layout;
        memcpy(lists, entry->lists, list_count * sizeof *lists);
    }
    process_unlock();
    return is_found;
}
