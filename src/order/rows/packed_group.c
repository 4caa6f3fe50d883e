#include "order/rows/packed_group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/pieces.h"
#include "base/core/search.h"

/* Sorts the parts by row. They are by document, and stay so in each row. */
static bool sort_by_row(struct packed_group *group, const struct packer *packer) {
    uint32_t *starts = calloc((size_t)packer->opened + 2, sizeof *starts);
    group->parts = malloc(((size_t)packer->part_count + 1) * sizeof *group->parts);
    group->row_starts = starts;
    if (!starts || !group->parts) return false;
    for (uint32_t i = 0; i < packer->part_count; i++) starts[packer->parts[i].row + 2]++;
    for (uint32_t i = 1; i <= packer->opened; i++) starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < packer->part_count; i++)
        group->parts[starts[packer->parts[i].row + 1]++] = packer->parts[i];
    return true;
}

/* The group takes over the arrays of the packer that it needs as they are. */
static struct packed_group *take_result(struct packer *packer, uint64_t number) {
    struct packed_group *group = calloc(1, sizeof *group);
    if (!group) return NULL;
    group->number = number;
    group->size = packer->packing->size;
    group->document_count = packer->document_count;
    group->opened = packer->opened;
    group->documents = packer->documents;
    group->lengths = packer->lengths;
    group->whole_ends = packer->whole_ends;
    packer->documents = packer->lengths = packer->whole_ends = NULL;
    if (sort_by_row(group, packer)) return group;
    packed_group_destroy(group);
    return NULL;
}

recmap_status packed_group_create(struct packed_group **group, const struct packing *packing,
                                  uint64_t number, recmap_error *error) {
    struct packer packer;
    RETURN_IF_FAILED(packer_init(&packer, packing, error));
    recmap_status status = packer_pack(&packer, number, error);
    if (status == RECMAP_OK) {
        *group = take_result(&packer, number);
        if (!*group) status = fail_memory(error);
    }
    packer_deinit(&packer);
    return status;
}

void packed_group_destroy(struct packed_group *group) {
    if (!group) return;
    free(group->documents);
    free(group->lengths);
    free(group->whole_ends);
    free(group->parts);
    free(group->row_starts);
    free(group);
}

static uint64_t whole_count(const struct packed_group *group) {
    return group->document_count ? group->whole_ends[group->document_count - 1] : 0;
}

uint64_t packed_group_row_count(const struct packed_group *group) {
    return whole_count(group) + group->opened;
}

/* The document that a row of one part is cut from. */
static uint32_t document_of(const struct packed_group *group, uint64_t row) {
    return (uint32_t)search_below(group->whole_ends, sizeof *group->whole_ends,
                                  group->document_count - 1, row + 1);
}

static recmap_status add_whole(recmap_pieces *pieces, const struct packed_group *group,
                               uint64_t row, recmap_error *error) {
    uint32_t document = document_of(group, row);
    uint64_t turn = row - (document ? group->whole_ends[document - 1] : 0);
    recmap_piece piece = {group->documents[document], turn * group->size, group->size, 0,
                          group->lengths[document]};
    return pieces_add(pieces, piece, error);
}

static recmap_status add_parts(recmap_pieces *pieces, const struct packed_group *group,
                               uint64_t row, recmap_error *error) {
    uint64_t place = 0;
    for (uint32_t i = group->row_starts[row]; i < group->row_starts[row + 1]; i++) {
        const struct packed_part *part = &group->parts[i];
        recmap_piece piece = {group->documents[part->document], part->first, part->count, place,
                              group->lengths[part->document]};
        RETURN_IF_FAILED(pieces_add(pieces, piece, error));
        place += part->count;
        assert(place <= group->size);
    }
    return RECMAP_OK;
}

recmap_status packed_group_add_row(recmap_pieces *pieces, const struct packed_group *group,
                                   uint64_t row, recmap_error *error) {
    uint64_t whole = whole_count(group);
    assert(row < packed_group_row_count(group));
    RETURN_IF_FAILED(row < whole ? add_whole(pieces, group, row, error)
                                 : add_parts(pieces, group, row - whole, error));
    return pieces_end_row(pieces, error);
}

struct packed_group *group_cache_take(struct group_cache *cache, uint64_t number) {
    for (int i = 0; i < GROUP_CACHE_PLACES; i++) {
        if (atomic_load_explicit(&cache->numbers[i], memory_order_relaxed) != number) continue;
        struct packed_group *group = atomic_exchange(&cache->places[i], NULL);
        if (group && group->number == number) return group;
        if (group) group_cache_put(cache, group);
    }
    return NULL;
}

void group_cache_put(struct group_cache *cache, struct packed_group *group) {
    int place = (int)(group->number % GROUP_CACHE_PLACES);
    for (int i = 0; i < GROUP_CACHE_PLACES; i++)
        if (!atomic_load_explicit(&cache->places[i], memory_order_relaxed)) {
            place = i;
            break;
        }
    atomic_store_explicit(&cache->numbers[place], group->number, memory_order_relaxed);
    packed_group_destroy(atomic_exchange(&cache->places[place], group));
}

void group_cache_deinit(struct group_cache *cache) {
    for (int i = 0; i < GROUP_CACHE_PLACES; i++)
        packed_group_destroy(atomic_exchange(&cache->places[i], NULL));
}
