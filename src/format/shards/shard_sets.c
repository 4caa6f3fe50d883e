#include "format/shards/shard_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "format/shards/marked_copies.h"

/* The compression suffix of a file without a number, which ends its name. */
static const char *suffix_of(const struct set_label *label) {
    return label->compression.start;
}

static bool is_numbered(const struct set_label *label) {
    return label->kind == SET_NUMBERED;
}

static int compare_copies(const void *a, const void *b) {
    return set_label_compare_files(a, b);
}

/* Looks for two files that differ in their compression suffixes alone. Sorts the labels. */
static recmap_status find_copies(bool *has_copies, struct set_label *labels, size_t count,
                                 recmap_error *error) {
    RETURN_IF_FAILED(sort_items(labels, count, sizeof *labels, compare_copies, error));
    *has_copies = false;
    for (size_t i = 1; i < count && !*has_copies; i++)
        *has_copies = set_label_is_copy(&labels[i - 1], &labels[i]);
    return RECMAP_OK;
}

/* Files that may be copies. */
struct suspects {
    size_t unnumbered_count;
    bool differ; /* their suffixes do: if not, none is a copy of another one by its suffix */
    size_t marked_count;
};

static recmap_status count_suspects(struct suspects *suspects, char *const *paths, size_t count,
                                    recmap_error *error) {
    struct set_label first = {0}, label;
    *suspects = (struct suspects){0};
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        set_label_init(&label, paths[i]);
        suspects->marked_count += label.copy_mark.size > 0;
        if (is_numbered(&label)) continue;
        if (!suspects->unnumbered_count) first = label;
        suspects->differ |= strcmp(suffix_of(&first), suffix_of(&label)) != 0;
        suspects->unnumbered_count++;
    }
    return RECMAP_OK;
}

static recmap_status look_for_copies(bool *has_copies, const struct suspects *suspects,
                                     char *const *paths, size_t count, recmap_error *error) {
    size_t n = 0;
    *has_copies = false;
    if (!suspects->differ) return RECMAP_OK;
    struct set_label *labels = malloc(suspects->unnumbered_count * sizeof *labels);
    if (!labels) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        set_label_init(&labels[n], paths[i]);
        if (!is_numbered(&labels[n]) && ++n == suspects->unnumbered_count) break;
    }
    recmap_status status = find_copies(has_copies, labels, n, error);
    free(labels);
    return status;
}

/* Sets `copies` to which files are copies of others by their marks, which the caller frees; NULL if
 * no file has a mark. */
static recmap_status find_marked_copies(bool **copies, const struct suspects *suspects,
                                        char *const *paths, size_t count, recmap_error *error) {
    *copies = NULL;
    if (!suspects->marked_count) return RECMAP_OK;
    *copies = malloc(count * sizeof **copies);
    return *copies ? marked_copies_find(*copies, paths, count, error) : fail_memory(error);
}

static int compare_sets(const struct shard_set *a, const struct shard_set *b) {
    int order = set_label_compare_sets(&a->label, &b->label);
    return order ? order : a->is_copy - b->is_copy;
}

static int compare_by_set(const void *a, const void *b) {
    const struct shard_set *left = a, *right = b;
    int order = compare_sets(left, right);
    return order ? order : (left->first > right->first) - (left->first < right->first);
}

/* The same if copies by their suffixes are sets of their own. */
static int compare_by_suffix(const void *a, const void *b) {
    const struct shard_set *left = a, *right = b;
    int order = compare_sets(left, right);
    if (!order && !is_numbered(&left->label))
        order = strcmp(suffix_of(&left->label), suffix_of(&right->label));
    return order ? order : (left->first > right->first) - (left->first < right->first);
}

static int compare_by_place(const void *a, const void *b) {
    const struct shard_set *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

static bool is_same_set(const struct shard_set *a, struct shard_set b,
                        int (*compare)(const void *a, const void *b)) {
    b.first = a->first;
    return !compare(a, &b);
}

static void add_to_set(struct shard_set *set, const struct shard_set *run) {
    set->shard_count += run->shard_count;
    set->has_mark |= run->has_mark;
    if (run->largest > set->largest) set->largest = run->largest;
}

/* Adds an item for each run of consecutive shards of one set: usually few, because the paths of a
 * set follow each other. */
static recmap_status add_runs(struct shard_sets *sets, char *const *paths, size_t count,
                              const bool *copies, int (*compare)(const void *a, const void *b),
                              recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        struct shard_set next = {.shard_count = 1, .first = i, .is_copy = copies && copies[i]};
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        set_label_init(&next.label, paths[i]);
        next.has_mark = next.label.copy_mark.size > 0;
        if (is_numbered(&next.label)) next.largest = next.label.member.number;
        if (sets->count && is_same_set(&sets->sets[sets->count - 1], next, compare)) {
            add_to_set(&sets->sets[sets->count - 1], &next);
            continue;
        }
        if (!array_reserve(&sets->sets, &sets->capacity, sets->count + 1, sizeof *sets->sets))
            return fail_memory(error);
        sets->sets[sets->count++] = next;
    }
    return RECMAP_OK;
}

/* Joins the runs of each set into the first one. The runs are sorted by their sets. */
static void join_runs(struct shard_sets *sets, int (*compare)(const void *a, const void *b)) {
    size_t count = 0;
    for (size_t i = 0; i < sets->count; i++) {
        if (count && is_same_set(&sets->sets[count - 1], sets->sets[i], compare))
            add_to_set(&sets->sets[count - 1], &sets->sets[i]);
        else sets->sets[count++] = sets->sets[i];
    }
    sets->count = count;
}

static recmap_status group_paths(struct shard_sets *sets, char *const *paths, size_t count,
                                 const bool *copies, int (*compare)(const void *a, const void *b),
                                 recmap_error *error) {
    recmap_status status = add_runs(sets, paths, count, copies, compare, error);
    if (status == RECMAP_OK)
        status = sort_items(sets->sets, sets->count, sizeof *sets->sets, compare, error);
    if (status == RECMAP_OK) {
        join_runs(sets, compare);
        status = sort_items(sets->sets, sets->count, sizeof *sets->sets, compare_by_place, error);
    }
    if (status != RECMAP_OK) shard_sets_deinit(sets);
    return status;
}

recmap_status shard_sets_find(struct shard_sets *sets, char *const *paths, size_t count,
                              recmap_error *error) {
    struct suspects suspects;
    bool has_copies = false, *copies = NULL;
    *sets = (struct shard_sets)SHARD_SETS_INIT;
    RETURN_IF_FAILED(count_suspects(&suspects, paths, count, error));
    recmap_status status = look_for_copies(&has_copies, &suspects, paths, count, error);
    if (status == RECMAP_OK) status = find_marked_copies(&copies, &suspects, paths, count, error);
    if (status == RECMAP_OK)
        status = group_paths(sets, paths, count, copies,
                             has_copies ? compare_by_suffix : compare_by_set, error);
    free(copies);
    return status;
}

bool shard_set_has_name(const struct shard_set *set) {
    if (set->shard_count == 1) return true;
    return is_numbered(&set->label) && !set->has_mark &&
           set->shard_count >= set->label.member.count;
}

void shard_set_write_title(char *title, size_t capacity, const struct shard_set *set,
                           bool has_folder) {
    const struct set_label *label = &set->label;
    const char *start = label->path + (has_folder ? 0 : label->folder.size);
    if (is_numbered(label)) {
        struct set_member member = label->member;
        member.number = set->largest;
        set_member_write_set(title, capacity, &member, start);
        return;
    }
    size_t others = set->shard_count - 1;
    int size = snprintf(title, capacity, "%s", start);
    if (others && size > 0 && (size_t)size < capacity)
        snprintf(title + size, capacity - (size_t)size, " and %zu other%s", others,
                 others == 1 ? "" : "s");
}

void shard_sets_deinit(struct shard_sets *sets) {
    free(sets->sets);
    *sets = (struct shard_sets)SHARD_SETS_INIT;
}
