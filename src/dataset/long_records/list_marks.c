#include "dataset/long_records/list_marks.h"

#include <stdlib.h>

#include "base/core/array.h"
#include "base/os/thread.h"

enum { PLACES = 4096, CACHE_SIZE_MAX = 64 << 20 };

/* The marks of one list. The cache holds one reference, and each thread that reads it another. */
struct list_marks {
    uint64_t record;
    uint64_t position; /* of the list in its record */
    uint64_t size;
    uint64_t spacing;
    unsigned references; /* process lock */
    uint32_t *offsets;   /* of value 0, `spacing`, 2 * `spacing`, ... */
    size_t count;
    size_t capacity;
};

/* A list has one place, which depends on its record, and evicts what was there. So the cache needs
 * no order of use. Guarded by the process lock. */
struct list_marks_cache {
    struct list_marks *places[PLACES];
    uint64_t size;
    size_t next_evicted;
};

struct list_marks_cache *list_marks_cache_create(void) {
    return calloc(1, sizeof(struct list_marks_cache));
}

static uint64_t memory_size(const struct list_marks *marks) {
    return sizeof *marks + marks->capacity * sizeof *marks->offsets;
}

static void release(struct list_marks *marks) {
    if (!marks || --marks->references) return;
    free(marks->offsets);
    free(marks);
}

static void empty_place(struct list_marks_cache *cache, size_t place) {
    struct list_marks *marks = cache->places[place];
    cache->places[place] = NULL;
    if (marks) cache->size -= memory_size(marks);
    release(marks);
}

void list_marks_cache_destroy(struct list_marks_cache *cache) {
    for (size_t i = 0; cache && i < PLACES; i++) empty_place(cache, i);
    free(cache);
}

uint64_t list_marks_cache_size(const struct list_marks_cache *cache) {
    process_lock();
    uint64_t size = cache->size;
    process_unlock();
    return size;
}

static size_t place_of(const struct marked_list *list) {
    uint64_t word = list->record * UINT64_C(0x9e3779b97f4a7c15) + list->position;
    return (size_t)((word * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % PLACES;
}

static bool is_of(const struct list_marks *marks, const struct marked_list *list) {
    return marks && marks->record == list->record && marks->size == list->size &&
           marks->position == list->position && marks->spacing == list->spacing;
}

/* Passes over the list. Stops without a failure at its end. */
static bool fill(struct list_marks *marks, const struct marked_list *list) {
    for (size_t offset = 0; offset < list->size;) {
        if (!array_reserve(&marks->offsets, &marks->capacity, marks->count + 1,
                           sizeof *marks->offsets))
            return false;
        marks->offsets[marks->count++] = (uint32_t)offset;
        size_t step = list->skip(list->data + offset, list->size - offset, list->spacing);
        if (step == SIZE_MAX) break;
        offset += step;
    }
    return true;
}

static struct list_marks *create_marks(const struct marked_list *list) {
    struct list_marks *marks = list->size > UINT32_MAX ? NULL : calloc(1, sizeof *marks);
    if (!marks) return NULL;
    *marks = (struct list_marks){.record = list->record,
                                 .position = list->position,
                                 .size = list->size,
                                 .spacing = list->spacing,
                                 .references = 1};
    if (fill(marks, list)) return marks;
    release(marks);
    return NULL;
}

/* Puts marks into their place, and evicts others until all fit. */
static void keep(struct list_marks_cache *cache, struct list_marks *marks, size_t place) {
    process_lock();
    empty_place(cache, place);
    for (size_t i = 0; i < PLACES && cache->size + memory_size(marks) > CACHE_SIZE_MAX; i++)
        empty_place(cache, cache->next_evicted++ % PLACES);
    if (cache->size + memory_size(marks) <= CACHE_SIZE_MAX) {
        cache->places[place] = marks;
        cache->size += memory_size(marks);
        marks->references++;
    }
    process_unlock();
}

/* Two threads may make the marks of a list at the same time. Both are right, and one stays. */
static struct list_marks *use_marks(struct list_marks_cache *cache,
                                    const struct marked_list *list) {
    size_t place = place_of(list);
    process_lock();
    struct list_marks *marks = cache->places[place];
    if (is_of(marks, list)) marks->references++;
    else marks = NULL;
    process_unlock();
    if (marks) return marks;
    marks = create_marks(list);
    if (marks) keep(cache, marks, place);
    return marks;
}

bool list_marks_find(size_t *offset, uint64_t *value, struct list_marks_cache *cache,
                     const struct marked_list *list, uint64_t first) {
    struct list_marks *marks = use_marks(cache, list);
    if (!marks) return false;
    uint64_t index = first / list->spacing;
    bool is_found = index < marks->count;
    if (is_found) {
        *offset = marks->offsets[index];
        *value = index * list->spacing;
    }
    process_lock();
    release(marks);
    process_unlock();
    return is_found;
}

bool list_marks_part(struct marked_part *part, struct list_marks_cache *cache,
                     const struct marked_list *list, uint64_t first, uint64_t end) {
    uint64_t index = first / list->spacing, last = (end - 1) / list->spacing + 1;
    process_lock();
    const struct list_marks *marks = cache->places[place_of(list)];
    bool is_found = is_of(marks, list) && index < marks->count;
    if (is_found)
        *part =
            (struct marked_part){.begin = marks->offsets[index],
                                 .value = index * list->spacing,
                                 .end = last < marks->count ? marks->offsets[last] : list->size};
    process_unlock();
    return is_found;
}
