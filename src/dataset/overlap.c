#include "dataset/overlap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

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
    overlap->reads[overlap->count] = (struct source_read){source, bytes, (size_t)size, offset};
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

struct shard_window overlap_window(const struct overlap *overlap, size_t i) {
    const struct source_read *read = &overlap->reads[i];
    return (struct shard_window){read->data, read->offset, read->size, NULL};
}

void overlap_deinit(struct overlap *overlap) {
    for (size_t i = 0; i < overlap->count; i++) shard_cache_unpin(overlap->parts[i].pin);
    free(overlap->reads);
    free(overlap->parts);
}
