/* Records whose ids occur more than once. */
#include <recmap/duplicates.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "dataset/open/dataset.h"

/* If there are more records, repeated ids are not looked for. If more ids have the hash of another,
 * the ids themselves are not compared. */
enum { RECORDS_MAX = 1 << 22, CANDIDATES_MAX = 4096, ITEM_WORK = 16 };

/* The records that are looked at, and the hashes of all records. */
struct id_search {
    recmap_dataset *dataset;
    const uint64_t *numbers; /* or NULL: all */
    size_t count;
    const uint64_t *hashes;
};

/* Records whose ids have the hash of another one's. */
struct candidates {
    uint64_t positions[CANDIDATES_MAX];
    uint64_t numbers[CANDIDATES_MAX];
    size_t count;
};

static uint64_t number_of(const struct id_search *search, size_t position) {
    return search->numbers ? search->numbers[position] : position;
}

static int compare_hashes(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Keeps one of each repeated hash, in order. Sets `extra` to the number of others. Returns how
 * many are kept. Records without an id are last. */
static size_t keep_repeated(uint64_t *hashes, size_t count, uint64_t *extra) {
    size_t kept = 0;
    *extra = 0;
    for (size_t first = 0, end; first < count; first = end) {
        uint64_t hash = hashes[first];
        for (end = first + 1; end < count && hashes[end] == hash;) end++;
        if (hash == RECMAP_NO_ID_HASH || end - first == 1) continue;
        hashes[kept++] = hash;
        *extra += end - first - 1;
    }
    return kept;
}

static void add_repeated(recmap_repeated_ids *ids, uint64_t position, uint64_t first) {
    ids->count++;
    if (ids->listed_count == RECMAP_REPEATED_IDS_MAX) return;
    ids->listed[ids->listed_count++] = (recmap_repeated_id){position, first};
}

/* Damaged records and ids of a callback cannot be compared: then the number is an estimate. */
static recmap_status compare_ids(recmap_repeated_ids *ids, const struct id_search *search,
                                 const struct candidates *candidates, recmap_error *error) {
    uint64_t firsts[CANDIDATES_MAX];
    recmap_duplicates_options options = RECMAP_DUPLICATES_OPTIONS_INIT;
    options.by_id = 1;
    recmap_status status = recmap_dataset_find_duplicates(
        firsts, search->dataset, candidates->numbers, candidates->count, &options, error);
    if (status == RECMAP_CANCELLED || status == RECMAP_NO_MEMORY) return status;
    ids->is_estimate = status != RECMAP_OK;
    if (status != RECMAP_OK) return RECMAP_OK;
    ids->count = 0;
    for (size_t i = 0; i < candidates->count; i++)
        if (firsts[i] != i)
            add_repeated(ids, candidates->positions[i], candidates->positions[firsts[i]]);
    return RECMAP_OK;
}

static recmap_status find_candidates(recmap_repeated_ids *ids, const struct id_search *search,
                                     const uint64_t *repeated, size_t repeated_count,
                                     recmap_error *error) {
    struct candidates candidates = {.count = 0};
    ids->is_estimate = ids->count > CANDIDATES_MAX / 2;
    if (!repeated_count || ids->is_estimate) return RECMAP_OK;
    for (size_t i = 0; i < search->count; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), ITEM_WORK, error));
        uint64_t number = number_of(search, i);
        if (!bsearch(&search->hashes[number], repeated, repeated_count, sizeof *repeated,
                     compare_hashes))
            continue;
        candidates.positions[candidates.count] = i;
        candidates.numbers[candidates.count++] = number;
        if (candidates.count == CANDIDATES_MAX) break;
    }
    return compare_ids(ids, search, &candidates, error);
}

static recmap_status search_hashes(recmap_repeated_ids *ids, const struct id_search *search,
                                   recmap_error *error) {
    uint64_t *sorted = malloc((search->count + 1) * sizeof *sorted);
    if (!sorted) return fail_memory(error);
    for (size_t i = 0; i < search->count; i++) sorted[i] = search->hashes[number_of(search, i)];
    recmap_status status = sort_items(sorted, search->count, sizeof *sorted, compare_hashes, error);
    if (status == RECMAP_OK) {
        size_t repeated_count = keep_repeated(sorted, search->count, &ids->count);
        status = find_candidates(ids, search, sorted, repeated_count, error);
    }
    free(sorted);
    return status;
}

recmap_status recmap_dataset_find_repeated_ids(recmap_repeated_ids *ids, recmap_dataset *dataset,
                                               const uint64_t *numbers, size_t count,
                                               recmap_error *error) {
    uint64_t record_count = dataset->info.record_count;
    for (size_t i = 0; numbers && i < count; i++)
        RETURN_IF_FAILED(dataset_check_range(dataset, numbers[i], 1, error));
    if (!numbers) RETURN_IF_FAILED(dataset_check_range(dataset, 0, count, error));
    *ids = (recmap_repeated_ids){.is_known = dataset->info.id_count &&
                                             record_count <= RECORDS_MAX && count <= RECORDS_MAX};
    if (!ids->is_known) return RECMAP_OK;
    uint64_t *hashes = malloc((size_t)(record_count + 1) * sizeof *hashes);
    if (!hashes) return fail_memory(error);
    struct id_search search = {dataset, numbers, count, hashes};
    recmap_status status = recmap_dataset_read_id_hashes(hashes, dataset, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        ids->missing_count += hashes[number_of(&search, i)] == RECMAP_NO_ID_HASH;
    for (size_t i = 0; status == RECMAP_OK && ids->missing_count && i < count; i++) {
        ids->first_missing = i;
        if (hashes[number_of(&search, i)] == RECMAP_NO_ID_HASH) break;
    }
    if (status == RECMAP_OK) status = search_hashes(ids, &search, error);
    free(hashes);
    return status;
}
