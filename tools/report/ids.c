#include "report/ids.h"

#include <stdlib.h>

#include <recmap/duplicates.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

/* If there are more records, repeated ids are not looked for. If more ids have the hash of another,
 * the ids themselves are not compared. */
enum { RECORDS_MAX = 1 << 22, CANDIDATES_MAX = 4096 };

static int compare_hashes(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The hashes of the view's items, sorted. Items without an id are last. */
static uint64_t *sort_hashes(const struct view *view, const uint64_t *hashes) {
    uint64_t *sorted = malloc((size_t)(view->count + 1) * sizeof *sorted);
    if (!sorted) return NULL;
    for (uint64_t i = 0; i < view->count; i++) sorted[i] = hashes[view_number(view, i)];
    if (view->count) qsort(sorted, (size_t)view->count, sizeof *sorted, compare_hashes);
    return sorted;
}

/* Keeps one of each repeated hash, in order. Sets `extra` to the number of others. Returns how
 * many are kept. */
static size_t keep_repeated(uint64_t *hashes, uint64_t count, uint64_t *extra) {
    size_t kept = 0;
    *extra = 0;
    for (uint64_t first = 0, end; first < count; first = end) {
        uint64_t hash = hashes[first];
        for (end = first + 1; end < count && hashes[end] == hash;) end++;
        if (hash == RECMAP_NO_ID_HASH || end - first == 1) continue;
        hashes[kept++] = hash;
        *extra += end - first - 1;
    }
    return kept;
}

/* Compares the ids of the candidates, which are records. */
static recmap_status compare_ids(struct repeated_ids *ids, const struct view *view,
                                 const uint64_t *numbers, size_t count, recmap_error *error) {
    uint64_t firsts[CANDIDATES_MAX];
    recmap_duplicates_options options = RECMAP_DUPLICATES_OPTIONS_INIT;
    options.by_id = 1;
    recmap_status status =
        recmap_dataset_find_duplicates(firsts, view->dataset, numbers, count, &options, error);
    if (status == RECMAP_OK) ids->count = 0;
    ids->is_estimate = status != RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        if (firsts[i] == i) continue;
        ids->count++;
        if (ids->listed_count == REPEATED_LISTED_MAX) continue;
        ids->listed[ids->listed_count++] = (struct repeated_id){numbers[i], numbers[firsts[i]]};
    }
    if (status == RECMAP_CANCELLED || status == RECMAP_NO_MEMORY) return status;
    return RECMAP_OK; /* damaged records and custom ids cannot be compared */
}

static recmap_status find_candidates(struct repeated_ids *ids, const struct view *view,
                                     const uint64_t *hashes, const uint64_t *duplicates,
                                     size_t repeated_count, recmap_error *error) {
    uint64_t numbers[CANDIDATES_MAX];
    size_t count = 0;
    ids->is_estimate = ids->count > CANDIDATES_MAX / 2;
    if (!repeated_count || ids->is_estimate) return RECMAP_OK;
    for (uint64_t i = 0; i < view->count; i++) {
        uint64_t number = view_number(view, i);
        if (!bsearch(&hashes[number], duplicates, repeated_count, sizeof *duplicates,
                     compare_hashes))
            continue;
        if (count < CANDIDATES_MAX) numbers[count] = number;
        count++;
    }
    if (interrupt_is_pending()) return interrupt_fail(error);
    return compare_ids(ids, view, numbers, count, error);
}

recmap_status repeated_ids_find(struct repeated_ids *ids, const struct view *view,
                                recmap_error *error) {
    uint64_t record_count = recmap_dataset_count(view->dataset);
    const recmap_dataset_info *info = recmap_dataset_get_info(view->dataset);
    *ids = (struct repeated_ids){.is_known = info->id_count && record_count <= RECORDS_MAX &&
                                             view->count <= RECORDS_MAX};
    if (!ids->is_known) return RECMAP_OK;
    uint64_t *hashes = malloc((size_t)(record_count + 1) * sizeof *hashes), *sorted = NULL;
    recmap_status status = RECMAP_OK;
    if (hashes) status = recmap_dataset_read_id_hashes(hashes, view->dataset, error);
    if (hashes && status == RECMAP_OK) sorted = sort_hashes(view, hashes);
    if (status == RECMAP_OK && !sorted) status = message_fail_memory(error);
    if (status == RECMAP_OK) {
        size_t repeated_count = keep_repeated(sorted, view->count, &ids->count);
        status = find_candidates(ids, view, hashes, sorted, repeated_count, error);
    }
    free(sorted);
    free(hashes);
    return status;
}
