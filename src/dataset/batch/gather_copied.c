/* Reading records of uncompressed shards into memory of the batch. */
#include "base/core/error.h"
#include "dataset/batch/gather_reads.h"
#include "dataset/open/storage_use.h"

enum { READ_GAP = 4096 /* records this close to each other share a pread */ };

/* Returns the end of the requests from `i` on that share a read because each lies close to the
 * preceding ones. */
size_t gather_merge_requests(const struct gather *gather, size_t i, size_t end, uint64_t *size,
                             bool is_requested) {
    const recmap_batch *batch = gather->batch;
    const struct index_place *first = &batch->places[i];
    const uint64_t gap = is_requested ? dataset_request_gap(gather->dataset, first->shard_index)
                                      : READ_GAP;
    const uint64_t size_max = is_requested ? OVERLAP_MAX : READ_MAX;
    struct shared_range range = {first->shard_index, first->offset, first->frame_size};
    size_t next = i + 1;
    while (next < end && !batch->shards[next] && !gather_is_partial(gather, next) &&
           shared_range_add(&range, &batch->places[next], gap, size_max))
        next++;
    *size = range.size;
    return next;
}

/* Ends a read that a cache is to answer before the first record that the cache lacks: that record
 * is then requested together with the following ones. Otherwise, an epoch in file order would make
 * a second request for each batch, whose first record lies in the last block of the batch before.
 */
static size_t cut_at_missing(const struct gather *gather, struct source *source, size_t i,
                             size_t end, uint64_t *size) {
    const struct index_place *places = gather->batch->places;
    const uint64_t begin = places[i].offset;
    if (source_has(source, begin, *size)) return end;
    size_t next = i + 1;
    *size = places[i].frame_size;
    for (; next < end; next++) {
        const struct index_place *place = &places[next];
        if (!source_has(source, place->offset, place->frame_size)) break;
        uint64_t last = place->offset + place->frame_size - begin;
        if (last > *size) *size = last;
    }
    return next;
}

/* Reads and checks the requests from `i` on that share a read. */
recmap_status gather_read_merged(struct gather *gather, size_t i, size_t count, size_t *next,
                                 recmap_error *error) {
    recmap_batch *batch = gather->batch;
    const struct index_place *first = &batch->places[i];
    uint64_t size;
    RETURN_IF_FAILED(gather_enter_shard(gather, first->shard_index, error));
    struct source *distant = open_shard_distant_source(gather->shard);
    bool is_requested = distant && !source_has(distant, first->offset, first->frame_size);
    *next = gather_merge_requests(gather, i, count, &size, is_requested);
    if (distant && !is_requested) *next = cut_at_missing(gather, distant, i, *next, &size);
    if (distant) return gather_plan_distant(gather, i, *next, size, error);
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    recmap_status status =
        open_shard_read(gather->shard, bytes, (size_t)size, first->offset, error);
    if (status != RECMAP_OK) fail_at(error, NULL, batch->requests[i].number, RECMAP_NO_OFFSET);
    struct shard_window window = {bytes, first->offset, size, NULL};
    for (size_t r = i; status == RECMAP_OK && r < *next; r++)
        status = gather_check_local(gather, r, gather->shard, &window, error);
    return status;
}
