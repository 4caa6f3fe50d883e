#include "shards/shard_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/sort.h"

enum { LABEL_WORK = 256 /* for the interrupt, in bytes: looking at a name */ };

/* The suffixes of a file without a number. */
static const char *suffix_of(const struct set_label *label) {
    return label->name.start + label->name.size;
}

static bool is_numbered(const struct set_label *label) {
    return label->kind == SET_NUMBERED;
}

static int compare_copies(const void *a, const void *b) {
    return set_label_compare_names(a, b);
}

/* Returns whether two files have the same name and different suffixes. Sorts the labels. */
static recmap_status find_copies(bool *has_copies, struct set_label *labels, size_t count,
                                 recmap_error *error) {
    RETURN_IF_FAILED(sort_items(labels, count, sizeof *labels, compare_copies, error));
    *has_copies = false;
    for (size_t i = 1; i < count && !*has_copies; i++)
        *has_copies = !set_label_compare_names(&labels[i - 1], &labels[i]) &&
                      strcmp(suffix_of(&labels[i - 1]), suffix_of(&labels[i])) != 0;
    return RECMAP_OK;
}

/* Counts the files without a number. Sets `differ` to whether their suffixes do: if not, none is a
 * copy of another one, and nothing needs to be sorted. */
static recmap_status count_unnumbered(size_t *unnumbered_count, bool *differ, char *const *paths,
                                      size_t count, recmap_error *error) {
    struct set_label first = {0}, label;
    *unnumbered_count = 0;
    *differ = false;
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), LABEL_WORK, error));
        set_label_init(&label, paths[i]);
        if (is_numbered(&label)) continue;
        if (!*unnumbered_count) first = label;
        *differ |= strcmp(suffix_of(&first), suffix_of(&label)) != 0;
        ++*unnumbered_count;
    }
    return RECMAP_OK;
}

static recmap_status look_for_copies(bool *has_copies, char *const *paths, size_t count,
                                     recmap_error *error) {
    size_t unnumbered_count, n = 0;
    bool differ;
    *has_copies = false;
    RETURN_IF_FAILED(count_unnumbered(&unnumbered_count, &differ, paths, count, error));
    if (!differ) return RECMAP_OK;
    struct set_label *labels = malloc(unnumbered_count * sizeof *labels);
    if (!labels) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        set_label_init(&labels[n], paths[i]);
        if (!is_numbered(&labels[n]) && ++n == unnumbered_count) break;
    }
    recmap_status status = find_copies(has_copies, labels, n, error);
    free(labels);
    return status;
}

static int compare_by_set(const void *a, const void *b) {
    const struct shard_set *left = a, *right = b;
    int order = set_label_compare_sets(&left->label, &right->label);
    return order ? order : (left->first > right->first) - (left->first < right->first);
}

/* The same if copies are sets of their own. */
static int compare_by_suffix(const void *a, const void *b) {
    const struct shard_set *left = a, *right = b;
    int order = set_label_compare_sets(&left->label, &right->label);
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

/* Adds an item for each run of consecutive shards of one set: usually few, because the paths of a
 * set follow each other. */
static recmap_status add_runs(struct shard_sets *sets, char *const *paths, size_t count,
                              int (*compare)(const void *a, const void *b), recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        struct shard_set next = {.shard_count = 1, .first = i};
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), LABEL_WORK, error));
        set_label_init(&next.label, paths[i]);
        if (sets->count && is_same_set(&sets->sets[sets->count - 1], next, compare)) {
            sets->sets[sets->count - 1].shard_count++;
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
            sets->sets[count - 1].shard_count += sets->sets[i].shard_count;
        else sets->sets[count++] = sets->sets[i];
    }
    sets->count = count;
}

recmap_status shard_sets_find(struct shard_sets *sets, char *const *paths, size_t count,
                              recmap_error *error) {
    bool has_copies;
    *sets = (struct shard_sets)SHARD_SETS_INIT;
    RETURN_IF_FAILED(look_for_copies(&has_copies, paths, count, error));
    int (*compare)(const void *, const void *) = has_copies ? compare_by_suffix : compare_by_set;
    recmap_status status = add_runs(sets, paths, count, compare, error);
    if (status == RECMAP_OK)
        status = sort_items(sets->sets, sets->count, sizeof *sets->sets, compare, error);
    if (status == RECMAP_OK) {
        join_runs(sets, compare);
        status = sort_items(sets->sets, sets->count, sizeof *sets->sets, compare_by_place, error);
    }
    if (status != RECMAP_OK) shard_sets_deinit(sets);
    return status;
}

void shard_sets_deinit(struct shard_sets *sets) {
    free(sets->sets);
    *sets = (struct shard_sets)SHARD_SETS_INIT;
}
