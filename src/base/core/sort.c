#include "base/core/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"

/* Items that are sorted by one call of qsort, and that are merged between two questions. */
enum { RUN = 4096, ITEM_WORK = 16 /* for the interrupt, in bytes */ };

struct sort {
    size_t count;
    size_t item_size;
    int (*compare)(const void *a, const void *b);
};

/* Two sorted runs, one after the other, and where the next item goes. */
struct merge {
    const char *left, *left_end;
    const char *right, *right_end;
    char *out;
};

static size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

static recmap_status sort_runs(char *items, const struct sort *sort, recmap_error *error) {
    for (size_t first = 0; first < sort->count; first += RUN) {
        size_t here = min_size(sort->count - first, RUN);
        qsort(items + first * sort->item_size, here, sort->item_size, sort->compare);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), here * ITEM_WORK, error));
    }
    return RECMAP_OK;
}

/* Merges up to `count` items. */
static void merge_some(struct merge *merge, const struct sort *sort, size_t count) {
    for (; count && merge->left < merge->left_end && merge->right < merge->right_end; count--) {
        const char **next = sort->compare(merge->left, merge->right) <= 0 ? &merge->left
                                                                          : &merge->right;
        memcpy(merge->out, *next, sort->item_size);
        *next += sort->item_size;
        merge->out += sort->item_size;
    }
}

/* One of two runs is at its end; what is left of the other may be all of it. */
static bool copy_rest(struct merge *merge) {
    size_t left_size = (size_t)(merge->left_end - merge->left);
    return interrupt_copy(thread_interrupt(), merge->out, merge->left, left_size) &&
           interrupt_copy(thread_interrupt(), merge->out + left_size, merge->right,
                          (size_t)(merge->right_end - merge->right));
}

/* Merges each two neighbouring runs of `run` items. */
static recmap_status merge_runs(char *out, const char *items, size_t run, const struct sort *sort,
                                recmap_error *error) {
    size_t size = sort->item_size;
    for (size_t first = 0; first < sort->count; first += 2 * run) {
        size_t middle = min_size(first + run, sort->count);
        size_t end = min_size(middle + run, sort->count);
        struct merge merge = {items + first * size, items + middle * size, items + middle * size,
                              items + end * size, out + first * size};
        while (merge.left < merge.left_end && merge.right < merge.right_end) {
            merge_some(&merge, sort, RUN);
            RETURN_IF_FAILED(interrupt_check(thread_interrupt(), RUN * ITEM_WORK, error));
        }
        if (!copy_rest(&merge)) return interrupt_fail(error);
    }
    return RECMAP_OK;
}

/* Merges back and forth between the items and their copy, with runs that double each time. */
static recmap_status merge_all(char *items, char *copy, const struct sort *sort,
                               recmap_error *error) {
    char *source = items, *target = copy;
    for (size_t run = RUN; run < sort->count; run *= 2) {
        RETURN_IF_FAILED(merge_runs(target, source, run, sort, error));
        char *merged = target;
        target = source;
        source = merged;
    }
    size_t size = source == items ? 0 : sort->count * sort->item_size;
    return interrupt_copy(thread_interrupt(), items, source, size) ? RECMAP_OK
                                                                   : interrupt_fail(error);
}

recmap_status sort_items(void *items, size_t count, size_t item_size,
                         int (*compare)(const void *a, const void *b), recmap_error *error) {
    const struct sort sort = {count, item_size, compare};
    RETURN_IF_FAILED(sort_runs(items, &sort, error));
    if (count <= RUN) return RECMAP_OK;
    char *copy = malloc(count * item_size);
    if (!copy) return fail_memory(error);
    recmap_status status = merge_all(items, copy, &sort, error);
    free(copy);
    return status;
}
