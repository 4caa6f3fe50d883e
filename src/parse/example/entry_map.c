#include "parse/example/entry_map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/search.h"

void entry_map_clear(struct entry_map *map) {
    map->count = 0;
    map->is_there = false;
    map->repeated = 0;
    map->size = 0;
}

void entry_map_deinit(struct entry_map *map) {
    free(map->entries);
    free(map->scratch);
    *map = (struct entry_map){0};
}

bool entry_map_reserve(struct entry_map *map) {
    return array_reserve(&map->entries, &map->capacity, map->count + 1, sizeof *map->entries) &&
           array_reserve(&map->scratch, &map->scratch_capacity, map->count + 1,
                         sizeof *map->scratch);
}

void entry_map_add(struct entry_map *map, const struct map_entry *entry) {
    assert(map->count < map->capacity);
    map->entries[map->count++] = *entry;
    map->size += map_entry_size(entry, entry->body_size);
}

uint64_t map_entry_size(const struct map_entry *entry, uint64_t body_size) {
    return field_size(field_size(entry->name_size) + field_size(body_size));
}

static int compare_names(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    size_t size = a_size < b_size ? a_size : b_size;
    int order = size ? memcmp(a, b, size) : 0;
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare(const struct map_entry *a, const struct map_entry *b, const uint8_t *arena) {
    return compare_names(arena + a->name, a->name_size, arena + b->name, b->name_size);
}

/* Merges the sorted runs [0, middle) and [middle, count). */
static void merge(struct map_entry *entry, const struct map_entry *source, size_t middle,
                  size_t count, const uint8_t *arena) {
    size_t left = 0, right = middle;
    for (size_t i = 0; i < count; i++) {
        bool takes_left = right == count ||
                          (left < middle && compare(&source[left], &source[right], arena) <= 0);
        entry[i] = takes_left ? source[left++] : source[right++];
    }
}

static bool is_sorted(const struct entry_map *map, const uint8_t *arena) {
    for (size_t i = 1; i < map->count; i++)
        if (compare(&map->entries[i - 1], &map->entries[i], arena) > 0) return false;
    return true;
}

/* A merge sort, because qsort may allocate memory and may take quadratic time. */
void entry_map_sort(struct entry_map *map, const uint8_t *arena) {
    if (is_sorted(map, arena)) return;
    for (size_t width = 1; width < map->count; width *= 2) {
        for (size_t at = 0; at < map->count; at += 2 * width) {
            size_t left = map->count - at;
            size_t middle = width < left ? width : left;
            size_t count = 2 * width < left ? 2 * width : left;
            merge(map->scratch + at, map->entries + at, middle, count, arena);
        }
        struct map_entry *sorted = map->scratch;
        size_t capacity = map->scratch_capacity;
        map->scratch = map->entries;
        map->scratch_capacity = map->capacity;
        map->entries = sorted;
        map->capacity = capacity;
    }
}

struct name_search {
    const struct entry_map *map;
    const void *name;
    size_t name_size;
    const uint8_t *arena;
};

static int compare_with(const struct name_search *search, size_t i) {
    const struct map_entry *entry = &search->map->entries[i];
    return compare_names(search->arena + entry->name, entry->name_size, search->name,
                         search->name_size);
}

static bool is_name_below(const void *context, size_t i) {
    return compare_with(context, i) < 0;
}

size_t entry_map_find(const struct entry_map *map, const void *name, size_t name_size,
                      const uint8_t *arena) {
    struct name_search search = {map, name, name_size, arena};
    size_t i = search_first(is_name_below, &search, map->count);
    return i < map->count && !compare_with(&search, i) ? i : SIZE_MAX;
}

size_t entry_map_run(const struct entry_map *map, size_t first, const uint8_t *arena) {
    size_t end = first + 1;
    while (end < map->count && !compare(&map->entries[first], &map->entries[end], arena)) end++;
    return end - first;
}

void entry_map_keep_last(struct entry_map *map, const uint8_t *arena) {
    size_t kept_count = 0;
    uint64_t size = 0;
    for (size_t i = 0; i < map->count; i++) {
        size_t run = entry_map_run(map, i, arena);
        if (run > 1) map->repeated = map->entries[i + 1].origin;
        i += run - 1;
        map->entries[kept_count] = map->entries[i];
        size += map_entry_size(&map->entries[kept_count], map->entries[kept_count].body_size);
        kept_count++;
    }
    map->count = kept_count;
    map->size = size;
}
