#include "order/kinds/groups.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/search.h"
#include "base/core/sort.h"

/* Records between two questions of the interrupt, and the work that one of them counts as. */
enum { PIECE = 4096, RECORD_WORK = 64 };

static int compare_int64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the values, removes duplicates, and sets `count` to how many remain. */
static recmap_status sort_unique(int64_t *values, size_t *count, recmap_error *error) {
    RETURN_IF_FAILED(sort_items(values, *count, sizeof *values, compare_int64, error));
    size_t kept_count = 0;
    for (size_t i = 0; i < *count; i++) {
        if (!i || values[i] != values[kept_count - 1]) values[kept_count++] = values[i];
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof *values, error));
    }
    *count = kept_count;
    return RECMAP_OK;
}

/* The distinct labels, ascending, in an array with room for all. A run of equal labels is added
 * once, so that sorted input costs little. */
static recmap_status add_labels(int64_t *distinct, size_t *distinct_count, const int64_t *labels,
                                size_t n, recmap_error *error) {
    size_t count = 0, sorted = 0;
    for (size_t i = 0; i < n; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof *labels, error));
        if (count && distinct[count - 1] == labels[i]) continue;
        distinct[count++] = labels[i];
        /* Few labels in many records: remove duplicates before there are many. */
        if (count < 2 * sorted + 4096) continue;
        RETURN_IF_FAILED(sort_unique(distinct, &count, error));
        sorted = count;
    }
    RETURN_IF_FAILED(sort_unique(distinct, &count, error));
    *distinct_count = count;
    return RECMAP_OK;
}

struct bound_search {
    const int64_t *bounds;
    int64_t value;
};

static bool is_reached(const void *context, size_t i) {
    const struct bound_search *search = context;
    return search->bounds[i] <= search->value;
}

/* The number of sorted bounds that are at most `value`. */
static uint32_t count_up_to(const int64_t *bounds, size_t count, int64_t value) {
    return (uint32_t)search_first(is_reached, &(struct bound_search){bounds, value}, count);
}

static recmap_status check_n(size_t n, size_t group_count, recmap_error *error) {
    if (n < UINT32_MAX && group_count < UINT32_MAX) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "too many records: %zu in %zu groups; grouped orders support fewer than 2^32 - 1", n,
         group_count);
    fail_advise(error, "split the data set into ranges, and mix one order of each");
    return RECMAP_INVALID;
}

static recmap_status allocate(struct groups *groups, size_t n, size_t count, recmap_error *error) {
    RETURN_IF_FAILED(check_n(n, count, error));
    *groups = (struct groups){.n = (uint32_t)n, .count = (uint32_t)count};
    groups->first = calloc(count + 2, sizeof *groups->first);
    groups->records = malloc((n ? n : 1) * sizeof *groups->records);
    groups->places = malloc((n ? n : 1) * sizeof *groups->places);
    if (groups->first && groups->records && groups->places) return RECMAP_OK;
    groups_deinit(groups);
    return fail_memory(error);
}

/* Writes the group of each record to its place, and counts the records of each group. Asks the
 * thread's interrupt after each piece: with millions of groups, each search misses the cache. */
static recmap_status find_groups(struct groups *groups, const int64_t *values,
                                 const int64_t *bounds, size_t bound_count, recmap_error *error) {
    for (uint32_t i = 0; i < groups->n;) {
        uint32_t here = groups->n - i < PIECE ? groups->n - i : PIECE;
        for (uint32_t end = i + here; i < end; i++) {
            groups->places[i] = count_up_to(bounds, bound_count, values[i]);
            groups->first[groups->places[i] + 2]++;
        }
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), here * RECORD_WORK, error));
    }
    return RECMAP_OK;
}

/* Gives each record the next place of its group. */
static recmap_status place_records(struct groups *groups, recmap_error *error) {
    for (uint32_t i = 0; i < groups->n;) {
        uint32_t here = groups->n - i < PIECE ? groups->n - i : PIECE;
        for (uint32_t end = i + here; i < end; i++) {
            groups->places[i] = groups->first[groups->places[i] + 1]++;
            groups->records[groups->places[i]] = i;
        }
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), here * RECORD_WORK, error));
    }
    return RECMAP_OK;
}

/* Counting sort: group i has the values in [bounds[i-1], bounds[i]). */
static recmap_status sort_records(struct groups *groups, const int64_t *values, size_t n,
                                  const int64_t *bounds, size_t bound_count, recmap_error *error) {
    RETURN_IF_FAILED(allocate(groups, n, bound_count + 1, error));
    recmap_status status = digest_words(groups->digest, (const uint64_t *)values, n, error);
    if (status == RECMAP_OK) status = find_groups(groups, values, bounds, bound_count, error);
    if (status == RECMAP_OK) {
        for (uint32_t g = 1; g <= groups->count; g++) groups->first[g + 1] += groups->first[g];
        status = place_records(groups, error);
    }
    if (status != RECMAP_OK) groups_deinit(groups);
    return status;
}

recmap_status groups_by_label(struct groups *groups, const int64_t *labels, size_t n,
                              recmap_error *error) {
    RETURN_IF_FAILED(check_n(n, 0, error));
    size_t count = 0;
    int64_t *distinct = malloc((n ? n : 1) * sizeof *distinct);
    if (!distinct) return fail_memory(error);
    recmap_status status = add_labels(distinct, &count, labels, n, error);
    /* Each label but the first is the lower bound of its group. */
    if (status == RECMAP_OK)
        status =
            sort_records(groups, labels, n, distinct + (count > 0), count ? count - 1 : 0, error);
    free(distinct);
    return status;
}

recmap_status groups_by_bounds(struct groups *groups, const int64_t *values, size_t n,
                               const int64_t *bounds, size_t bound_count, recmap_error *error) {
    for (size_t i = 1; i < bound_count; i++)
        if (bounds[i] <= bounds[i - 1])
            return fail(error, RECMAP_INVALID,
                        "bounds must ascend, but bound %zu (%" PRId64
                        ") is not greater than the previous one",
                        i, bounds[i]);
    return sort_records(groups, values, n, bounds, bound_count, error);
}

void groups_deinit(struct groups *groups) {
    free(groups->first);
    free(groups->records);
    free(groups->places);
    groups->first = groups->records = groups->places = NULL;
}

uint32_t groups_of_place(const struct groups *groups, uint32_t place) {
    return search_below32(groups->first, groups->count, (uint64_t)place + 1) - 1;
}
