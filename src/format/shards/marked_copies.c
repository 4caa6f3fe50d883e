#include "format/shards/marked_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "base/os/file.h"
#include "format/shards/set_label.h"

enum { MARKS_MAX = 8 /* that are cut off one name */ };

/* What remains of a path without one mark or several. */
struct original {
    char *path;
    size_t place;  /* of the marked file in the list */
    bool has_word; /* a mark is more than a number: " copy", not " (1)" */
};

struct originals {
    struct original *items;
    size_t count;
    size_t capacity;
};

static char *cut_mark(const char *path, struct path_part mark) {
    size_t start = (size_t)(mark.start - path), rest = strlen(mark.start + mark.size) + 1;
    char *text = malloc(start + rest);
    if (!text) return NULL;
    memcpy(text, path, start);
    memcpy(text + start, mark.start + mark.size, rest);
    return text;
}

/* Adds what remains of the path without its last mark, without its last two, and so on. */
static recmap_status add_originals(struct originals *list, const char *path, size_t place,
                                   recmap_error *error) {
    bool has_word = false;
    for (int i = 0; i < MARKS_MAX; i++) {
        struct path_part mark = copy_mark_find(path_name(path));
        if (!mark.size) break;
        if (!array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
            return fail_memory(error);
        has_word |= !copy_mark_is_number(mark);
        path = list->items[list->count].path = cut_mark(path, mark);
        if (!path) return fail_memory(error);
        list->items[list->count].place = place;
        list->items[list->count++].has_word = has_word;
    }
    return RECMAP_OK;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(((const struct original *)a)->path, ((const struct original *)b)->path);
}

static int compare_originals(const void *a, const void *b) {
    const struct original *left = a, *right = b;
    int order = compare_paths(left, right);
    return order ? order : (left->place > right->place) - (left->place < right->place);
}

/* Marks the copies of a file in the list. They follow each other. */
static void mark_copies(bool *copies, const struct originals *list, char *path) {
    const struct original file = {.path = path}, *end = list->items + list->count,
                          *copy =
                              bsearch(&file, list->items, list->count, sizeof file, compare_paths);
    if (!copy) return;
    while (copy > list->items && !compare_paths(copy - 1, &file)) copy--;
    for (; copy < end && !compare_paths(copy, &file); copy++) copies[copy->place] = true;
}

/* Marks which of the files from `first` on, of which one path remains, are copies of the first one.
 * Numbers alone may be those of shards, but not if the shards are numbered otherwise. */
static void mark_others(bool *copies, const struct original *first, size_t count) {
    struct set_member member;
    bool is_numbered = set_member_parse(&member, first->path), has_original = false;
    if (copy_mark_find(path_name(first->path)).size) return;
    for (size_t i = 0; i < count; i++) has_original |= !is_numbered && !first[i].has_word;
    for (size_t i = 0; i < count; i++) {
        if (copies[first[i].place] || (!is_numbered && !first[i].has_word)) continue;
        copies[first[i].place] = has_original;
        has_original = true;
    }
}

static recmap_status compare_files(bool *copies, struct originals *list, char *const *paths,
                                   size_t count, recmap_error *error) {
    RETURN_IF_FAILED(
        sort_items(list->items, list->count, sizeof *list->items, compare_originals, error));
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        mark_copies(copies, list, paths[i]);
    }
    for (size_t first = 0, end; first < list->count; first = end) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        for (end = first + 1; end < list->count; end++)
            if (compare_paths(&list->items[first], &list->items[end])) break;
        mark_others(copies, &list->items[first], end - first);
    }
    return RECMAP_OK;
}

recmap_status marked_copies_find(bool *copies, char *const *paths, size_t count,
                                 recmap_error *error) {
    struct originals list = {0};
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < count; i++) copies[i] = false;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        status = interrupt_check(thread_interrupt(), SET_LABEL_WORK, error);
        if (status == RECMAP_OK) status = add_originals(&list, paths[i], i, error);
    }
    if (status == RECMAP_OK && list.count)
        status = compare_files(copies, &list, paths, count, error);
    for (size_t i = 0; i < list.count; i++) free(list.items[i].path);
    free(list.items);
    return status;
}
