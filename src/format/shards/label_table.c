#include "format/shards/label_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"

/* FNV-1a. */
static uint64_t hash_part(uint64_t hash, struct path_part part) {
    for (size_t i = 0; i < part.size; i++)
        hash = (hash ^ (unsigned char)part.start[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The hash of what the comparison for the key looks at, or of a part of it. */
static uint64_t hash_label(enum label_key key, const struct set_label *label) {
    uint64_t hash = hash_part(UINT64_C(0xcbf29ce484222325), label->folder);
    if (key == LABEL_KEY_NAME) return hash_part(hash, label->name);
    const char *file = label->path + label->folder.size;
    struct path_part mark = label->copy_mark;
    const char *start = mark.size ? mark.start : file + strlen(file), *end = start + mark.size;
    hash = hash_part(hash, (struct path_part){file, (size_t)(start - file)});
    return hash_part(hash, (struct path_part){end, strlen(end)});
}

static bool has_key(enum label_key key, const struct set_label *a, const struct set_label *b) {
    return key == LABEL_KEY_NAME ? !set_label_compare_names(a, b)
                                 : !set_label_compare_originals(a, b);
}

/* The slot of a path with the key of the label, or the empty one where it would be. */
static size_t *find_slot(const struct label_table *table, char *const *paths,
                         const struct set_label *label) {
    size_t mask = table->capacity - 1, i = (size_t)hash_label(table->key, label) & mask;
    for (; table->slots[i]; i = (i + 1) & mask) {
        struct set_label other;
        set_label_init(&other, paths[table->slots[i] - 1]);
        if (has_key(table->key, &other, label)) break;
    }
    return &table->slots[i];
}

static void add_path(struct label_table *table, char *const *paths, size_t i) {
    struct set_label label;
    set_label_init(&label, paths[i]);
    size_t *slot = find_slot(table, paths, &label);
    if (*slot) return; /* the first one stays */
    *slot = i + 1;
    table->slot_count++;
}

/* Makes room for the paths up to `end`, and at least as many empty slots. */
static recmap_status grow(struct label_table *table, char *const *paths, size_t end,
                          recmap_error *error) {
    size_t needed = 2 * (table->slot_count + end - table->registered), capacity = 16;
    if (needed <= table->capacity) return RECMAP_OK;
    while (capacity < needed) capacity *= 2;
    struct label_table larger = {table->key, calloc(capacity, sizeof *larger.slots), capacity, 0,
                                 table->registered};
    if (!larger.slots) return fail_memory(error);
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i]) add_path(&larger, paths, table->slots[i] - 1);
    free(table->slots);
    *table = larger;
    return RECMAP_OK;
}

recmap_status label_table_fill(struct label_table *table, char *const *paths, size_t end,
                               recmap_error *error) {
    RETURN_IF_FAILED(grow(table, paths, end, error));
    for (; table->registered < end; table->registered++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        add_path(table, paths, table->registered);
    }
    return RECMAP_OK;
}

size_t label_table_find(const struct label_table *table, char *const *paths,
                        const struct set_label *label) {
    return *find_slot(table, paths, label);
}

void label_table_deinit(struct label_table *table) {
    free(table->slots);
    *table = (struct label_table)LABEL_TABLE_INIT(table->key);
}
