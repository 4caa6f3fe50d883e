#include "dataset/batch/overlap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/search.h"

bool shared_range_add(struct shared_range *range, const struct index_place *place, uint64_t gap,
                      uint64_t size_max) {
    uint64_t last = range->offset + range->size, end = place->offset + place->frame_size;
    if (place->shard_index != range->shard_index || place->offset < range->offset ||
        place->offset > last + gap || end - range->offset > size_max)
        return false;
    /* A repeated record does not extend the range. */
    if (end > last) range->size = end - range->offset;
    return true;
}

/* The bytes of a read for the requests [first, end) that are in none of their frames. Places need
 * not ascend: see shared_range_add. */
static size_t find_gap_size(const recmap_batch *batch, const struct overlapped_read *part,
                            uint64_t offset, uint64_t size) {
    uint64_t last = offset, gap_size = 0;
    for (size_t i = part->first; i < part->end; i++) {
        const struct index_place *place = &batch->places[i];
        uint64_t end = place->offset + place->frame_size;
        if (place->offset > last) gap_size += place->offset - last;
        if (end > last) last = end;
    }
    return gap_size < size ? (size_t)gap_size : 0;
}

static recmap_status add(struct overlap *overlap, const struct overlapped_read *part,
                         uint8_t *bytes, uint64_t offset, uint64_t size, recmap_error *error) {
    struct source *source = open_shard_distant_source(part->pin);
    assert(part->first < part->end && part->end <= overlap->batch->requests_capacity && source);
    if (!bytes ||
        !array_reserve(&overlap->reads, &overlap->reads_capacity, overlap->count + 1,
                       sizeof *overlap->reads) ||
        !array_reserve(&overlap->parts, &overlap->parts_capacity, overlap->count + 1,
                       sizeof *overlap->parts)) {
        shard_cache_unpin(part->pin);
        return fail_memory(error);
    }
    size_t gap_size = part->is_range ? 0 : find_gap_size(overlap->batch, part, offset, size);
    overlap->reads[overlap->count] = (struct source_read){.source = source,
                                                          .data = bytes,
                                                          .size = (size_t)size,
                                                          .offset = offset,
                                                          .gap_size = gap_size};
    overlap->parts[overlap->count++] = *part;
    return RECMAP_OK;
}

recmap_status overlap_add(struct overlap *overlap, size_t first, size_t end, uint64_t offset,
                          uint64_t size, struct open_shard *shard, recmap_error *error) {
    struct overlapped_read part = {.first = first, .end = end, .pin = shard};
    return add(overlap, &part, batch_allocate(overlap->batch, (size_t)size), offset, size, error);
}

recmap_status overlap_add_range(struct overlap *overlap, size_t first, uint8_t *bytes,
                                uint64_t offset, uint64_t size, struct open_shard *shard,
                                recmap_error *error) {
    struct overlapped_read part = {first, first + 1, true, shard};
    return add(overlap, &part, bytes, offset, size, error);
}

recmap_status overlap_read(struct overlap *overlap, recmap_error *error) {
    size_t failed = 0;
    recmap_batch *batch = overlap->batch;
    if (!overlap->count) return RECMAP_OK;
    recmap_status status =
        source_read_all(&failed, overlap->reads, overlap->count, &batch->interrupt, error);
    if (status != RECMAP_OK && status != RECMAP_CANCELLED)
        fail_at(error, NULL, batch->requests[overlap->parts[failed].first].number,
                RECMAP_NO_OFFSET);
    return status;
}

struct read_search {
    const struct overlap *overlap;
    uint64_t number;
};

static bool is_read_below(const void *context, size_t i) {
    const struct read_search *search = context;
    size_t last = search->overlap->parts[i].end - 1;
    return search->overlap->batch->requests[last].number < search->number;
}

/* Reads are in the order of the requests, which are sorted by number. */
size_t overlap_find(const struct overlap *overlap, uint64_t number) {
    struct read_search search = {overlap, number};
    size_t i = search_first(is_read_below, &search, overlap->count);
    if (i == overlap->count || overlap->parts[i].is_range) return SIZE_MAX;
    return overlap->batch->requests[overlap->parts[i].first].number <= number ? i : SIZE_MAX;
}

struct shard_window overlap_window(const struct overlap *overlap, size_t i) {
    const struct source_read *read = &overlap->reads[i];
    return (struct shard_window){read->data, read->offset, read->size, NULL};
}

void overlap_deinit(struct overlap *overlap) {
    for (size_t i = 0; i < overlap->count; i++) shard_cache_unpin(overlap->parts[i].pin);
    free(overlap->reads);
    free(overlap->parts);
}
