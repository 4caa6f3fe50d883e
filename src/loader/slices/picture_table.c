#include "loader/slices/picture_table.h"

#include <stdlib.h>

struct picture_entry {
    struct picture_key key; /* `data` is NULL if the entry is empty */
    size_t index;
};

bool picture_table_init(struct picture_table *table, size_t count) {
    size_t capacity = 2;
    if (count > SIZE_MAX / 4) return false;
    while (capacity < 2 * count) capacity *= 2;
    table->mask = capacity - 1;
    table->entries = calloc(capacity, sizeof *table->entries);
    return table->entries;
}

void picture_table_deinit(struct picture_table *table) {
    free(table->entries);
}

static size_t hash(const struct picture_key *key) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = (uintptr_t)key->data * factor;
    mixed = (mixed ^ mixed >> 32 ^ key->number) * factor;
    mixed = (mixed ^ mixed >> 32 ^ key->position) * factor;
    return (size_t)(mixed ^ mixed >> 32);
}

static bool is_equal(const struct picture_key *a, const struct picture_key *b) {
    return a->data == b->data && a->size == b->size && a->number == b->number &&
           a->position == b->position;
}

size_t picture_table_add(struct picture_table *table, const struct picture_key *key, size_t index) {
    for (size_t i = hash(key) & table->mask;; i = (i + 1) & table->mask) {
        struct picture_entry *entry = &table->entries[i];
        if (entry->key.data && !is_equal(&entry->key, key)) continue;
        if (!entry->key.data) *entry = (struct picture_entry){*key, index};
        return entry->index;
    }
}
