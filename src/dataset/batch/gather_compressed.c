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

typedef recmap_status read_function(const struct open_shard *shard, uint8_t *data,
                                    const struct index_place *places, size_t count,
                                    recmap_error *error);

/* Reads the requests [first, end) from the current shard, one after another, and checks them.
 * `failed` becomes the one that is wrong; the first one if they cannot be read. */
static recmap_status copy_compressed(size_t *failed, struct gather *gather, uint8_t *bytes,
                                     size_t first, size_t end, read_function *read,
                                     recmap_error *error) {
    recmap_batch *batch = gather->batch;
    *failed = first;
    recmap_status status = read(gather->shard, bytes, &batch->places[first], end - first, error);
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

/* Copies the requests [first, end). Each of them that is wrong is read once more: what was stored
 * of it may have been damaged. `is_wrong_again`: one of them was wrong twice. */
static recmap_status copy_repeatedly(bool *is_wrong_again, struct gather *gather, uint8_t *bytes,
                                     size_t first, size_t end, recmap_error *error) {
    for (size_t failed, retried = first;; retried = failed + 1) {
        recmap_status status =
            copy_compressed(&failed, gather, bytes, first, end, open_shard_read_frames, error);
        bool may_pass = gather_may_pass(gather, status, &gather->batch->places[failed]);
        *is_wrong_again = may_pass && failed < retried;
        if (*is_wrong_again || !may_pass) return status;
    }
}

/* Reads the requests from `i` on that are copied together. What was stored may be damaged again and
 * again, so at last it is not used: only then is the shard to blame. */
recmap_status gather_read_compressed(struct gather *gather, size_t i, size_t count, size_t *next,
                                     recmap_error *error) {
    recmap_batch *batch = gather->batch;
    uint64_t size;
    *next = merge_compressed(gather, i, count, &size);
    RETURN_IF_FAILED(gather_enter_shard(gather, batch->places[i].shard_index, error));
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    bool is_wrong_again;
    recmap_status status = copy_repeatedly(&is_wrong_again, gather, bytes, i, *next, error);
    if (!is_wrong_again || !open_shard_is_stored(gather->shard)) return status;
    size_t failed;
    return copy_compressed(&failed, gather, bytes, i, *next, open_shard_read_file_frames, error);
}
