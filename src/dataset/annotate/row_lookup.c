#include "dataset/annotate/row_lookup.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/error.h"

enum { SORTED_HASH_BITS = 22 }; /* enough to sort ROW_GROUP hashes almost completely */

void row_lookup_init(struct row_lookup *lookup, struct index_file *index) {
    *lookup = (struct row_lookup){.index = index};
}

void row_lookup_deinit(struct row_lookup *lookup) {
    free(lookup->items);
    free(lookup->scratch);
    free(lookup->numbers);
    row_lookup_init(lookup, lookup->index);
}

static bool reserve(struct row_lookup *lookup, size_t count) {
    if (count <= lookup->capacity) return true;
    row_lookup_deinit(lookup);
    lookup->items = malloc(count * sizeof *lookup->items);
    lookup->scratch = malloc(count * sizeof *lookup->scratch);
    lookup->numbers = malloc(count * sizeof *lookup->numbers);
    if (!lookup->items || !lookup->scratch || !lookup->numbers) return false;
    lookup->capacity = count;
    return true;
}

static size_t hash_ids(struct row_lookup *lookup, const recmap_value *ids, size_t count) {
    size_t hashed = 0;
    for (size_t i = 0; i < count; i++) {
        lookup->numbers[i] = ROW_ABSENT;
        if (ids[i].type == RECMAP_TYPE_INT64 || ids[i].type == RECMAP_TYPE_BYTES)
            lookup->items[hashed++] = (struct radix_item){id_hash(&ids[i]), i};
    }
    return hashed;
}

static recmap_status find_row(uint64_t *number, struct index_candidates *candidates, uint64_t hash,
                              recmap_error *error) {
    uint64_t other;
    bool is_found;
    *number = ROW_ABSENT;
    RETURN_IF_FAILED(index_candidates_move(candidates, hash, 0, error));
    RETURN_IF_FAILED(index_candidates_next(candidates, number, &is_found, error));
    if (!is_found) return RECMAP_OK;
    RETURN_IF_FAILED(index_candidates_next(candidates, &other, &is_found, error));
    if (is_found) *number = ROW_SEVERAL;
    return RECMAP_OK;
}

recmap_status row_lookup_find(struct row_lookup *lookup, const recmap_value *ids, size_t count,
                              recmap_error *error) {
    struct index_candidates candidates;
    assert(count <= ROW_GROUP);
    if (!reserve(lookup, count)) return fail_memory(error);
    RETURN_IF_FAILED(index_candidates_init(&candidates, lookup->index, 0, error));
    size_t hashed = hash_ids(lookup, ids, count);
    const struct radix_item *items = radix_sort(lookup->items, lookup->scratch, hashed,
                                                IDS_HASH_BITS - SORTED_HASH_BITS, IDS_HASH_BITS);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < hashed; i++)
        status = find_row(&lookup->numbers[items[i].value], &candidates, items[i].key, error);
    return status;
}
