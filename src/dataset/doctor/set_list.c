#include "dataset/doctor/set_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"

/* Returns true if the shard belongs to the set, by its name. Copies of a set that differ in their
 * compression suffixes alone have equal labels. */
static bool has_label(const struct shard_set *set, const struct set_label *label) {
    if (set_label_compare_sets(&set->label, label)) return false;
    if (label->kind == SET_NUMBERED) return true;
    return label->compression.size == set->label.compression.size &&
           !memcmp(label->compression.start, set->label.compression.start, label->compression.size);
}

/* Shards of a set mostly follow each other. Loose files may differ in their suffixes, as in parts
 * that are compressed and parts that are not, so that no label is equal: the set is then the last
 * one that begins at or before the shard. */
static size_t find_set(const struct set_list *list, const char *path, size_t shard,
                       size_t previous) {
    struct set_label label;
    size_t begun = 0;
    if (list->count < 2) return 0;
    set_label_init(&label, path);
    if (has_label(&list->sets.sets[previous], &label)) return previous;
    for (size_t i = 0; i < list->count; i++) {
        if (has_label(&list->sets.sets[i], &label)) return i;
        if (list->sets.sets[i].first <= shard) begun = i;
    }
    return begun;
}

/* Numbers the records of each set, in the order of the data set. */
static void number_records(struct shard_list *shards) {
    uint64_t next[SETS_MAX] = {0};
    for (size_t i = 0; i < shards->entry_count; i++) {
        struct listed_entry *entry = &shards->entries[i];
        size_t set = shards->shards[entry->shard].set;
        entry->first_in_set = next[set];
        next[set] += entry->record_count;
    }
}

recmap_status set_list_init(struct set_list *list, struct shard_list *shards, recmap_error *error) {
    *list = (struct set_list){.sets = SHARD_SETS_INIT};
    char **paths = malloc((shards->count + 1) * sizeof *paths);
    if (!paths) return fail_memory(error);
    for (size_t i = 0; i < shards->count; i++) paths[i] = shards->shards[i].path;
    recmap_status status = shard_sets_find(&list->sets, paths, shards->count, error);
    free(paths);
    RETURN_IF_FAILED(status);
    list->count = list->sets.count < SETS_MAX ? list->sets.count : SETS_MAX;
    for (size_t i = 0, set = 0; i < shards->count; i++)
        shards->shards[i].set = set = find_set(list, shards->shards[i].path, i, set);
    number_records(shards);
    return RECMAP_OK;
}

void set_list_deinit(struct set_list *list) {
    shard_sets_deinit(&list->sets);
}

static bool has_folders(const struct set_list *list) {
    const struct set_label *first = &list->sets.sets[0].label;
    for (size_t i = 1; i < list->count; i++) {
        const struct set_label *label = &list->sets.sets[i].label;
        if (label->folder.size != first->folder.size ||
            memcmp(label->path, first->path, first->folder.size) != 0)
            return true;
    }
    return false;
}

void set_list_write_title(char title[SET_TITLE_SIZE], const struct set_list *list, size_t set) {
    shard_set_write_title(title, SET_TITLE_SIZE, &list->sets.sets[set], has_folders(list));
}
