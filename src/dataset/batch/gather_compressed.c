/* Copying records of compressed shards. */
#include "base/core/error.h"
#include "dataset/batch/gather_reads.h"

/* Returns the end of the requests from `i` on that are copied together from a compressed shard. */
static size_t merge_compressed(const struct gather *gather, size_t i, size_t end, uint64_t *size) {
    const struct index_place *places = gather->batch->places;
    size_t next = i + 1;
    *size = places[i].frame_size;
    while (next < end && !gather_is_partial(gather, next) &&
           places[next].shard_index == places[i].shard_index &&
           *size + places[next].frame_size <= READ_MAX)
        *size += places[next++].frame_size;
    return next;
}

/* Copies the requests [first, end) from the current shard, one after another, and checks them.
 * `failed` becomes the one that is wrong; the first one if they cannot be read. */
static recmap_status copy_compressed(size_t *failed, struct gather *gather, uint8_t *bytes,
                                     size_t first, size_t end, recmap_error *error) {
    recmap_batch *batch = gather->batch;
    *failed = first;
    recmap_status status =
        open_shard_read_frames(gather->shard, bytes, &batch->places[first], end - first, error);
    if (status != RECMAP_OK) fail_at(error, NULL, batch->requests[first].number, RECMAP_NO_OFFSET);
    for (size_t r = first; status == RECMAP_OK && r < end; r++) {
        const struct index_place *place = &batch->places[r];
        struct shard_window window = {bytes, place->offset, place->frame_size, NULL};
        status = gather_check(gather, r, &window, error);
        if (status != RECMAP_OK) *failed = r;
        bytes += place->frame_size;
    }
    return status;
}

/* Reads the requests from `i` on that are copied together. Each of them that is wrong is read once
 * more: what was stored of it may have been damaged. */
recmap_status gather_read_compressed(struct gather *gather, size_t i, size_t count, size_t *next,
                                     recmap_error *error) {
    recmap_batch *batch = gather->batch;
    uint64_t size;
    *next = merge_compressed(gather, i, count, &size);
    RETURN_IF_FAILED(gather_enter_shard(gather, batch->places[i].shard_index, error));
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    for (size_t failed, retried = i;; retried = failed + 1) {
        recmap_status status = copy_compressed(&failed, gather, bytes, i, *next, error);
        if (failed < retried || !gather_may_pass(gather, status, &batch->places[failed]))
            return status;
    }
}
