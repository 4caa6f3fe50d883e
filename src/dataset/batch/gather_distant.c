/* Reading records of distant shards: reads are planned first, and then made together. */
#include "base/core/error.h"
#include "dataset/batch/gather_reads.h"
#include "dataset/open/row_caches.h"

/* Plans to read the requests [first, end) with one read of a distant shard. */
recmap_status gather_plan_distant(struct gather *gather, size_t first, size_t end, uint64_t size,
                                  recmap_error *error) {
    struct open_shard *pin;
    const struct index_place *place = &gather->batch->places[first];
    RETURN_IF_FAILED(dataset_pin_shard(&pin, gather->dataset, place->shard_index, error));
    return overlap_add(&gather->overlap, first, end, place->offset, size, pin, error);
}

/* Keeps checksums of the long records of a distant shard that were read as a whole. */
static void keep_sums(const struct gather *gather, size_t first, size_t end) {
    for (size_t r = first; gather->parts && r < end; r++) {
        const recmap_record *record = &gather->batch->records[gather->batch->requests[r].slot];
        if (record->size >= LAYOUT_MIN_SIZE)
            record_sums_keep(gather->caches->sums, record->number, record->data, record->size);
    }
}

/* Reads once more what was damaged. A cache may have damaged it, and may do so again and again if
 * other threads store the same blocks, so this read passes the cache: only what is wrong at the
 * source fails twice. */
static recmap_status read_origin(struct source *source, void *data, size_t size, uint64_t offset,
                                 recmap_error *error) {
    source_forget(source, offset, size);
    return source_read(source_origin(source), data, size, offset, error);
}

/* Reads and checks a record of a distant shard by itself, because the bytes that arrived before
 * were damaged. */
recmap_status gather_read_alone(struct gather *gather, struct source *source, size_t i,
                                recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    uint8_t *frame = batch_allocate(gather->batch, (size_t)place->frame_size);
    if (!frame) return fail_memory(error);
    RETURN_IF_FAILED(read_origin(source, frame, (size_t)place->frame_size, place->offset, error));
    struct shard_window window = {frame, place->offset, place->frame_size, NULL};
    return gather_check(gather, i, &window, error);
}

/* Takes a record from the bytes that were requested for the whole batch, if they contain it. */
recmap_status gather_take_fetched(bool *is_taken, struct gather *gather, size_t i,
                                  recmap_error *error) {
    const struct overlap *fetched = gather->batch->fetched;
    size_t read = fetched ? overlap_find(fetched, gather->batch->requests[i].number) : SIZE_MAX;
    *is_taken = read != SIZE_MAX;
    if (!*is_taken) return RECMAP_OK;
    struct shard_window window = overlap_window(fetched, read);
    recmap_status status = gather_check(gather, i, &window, error);
    if (status != RECMAP_CORRUPT && status != RECMAP_STALE) return status;
    return gather_read_alone(gather, fetched->reads[read].source, i, error);
}

/* Makes the planned reads and checks their records. Bytes that were changed on the way fail the
 * check, so they are read once more. */
recmap_status gather_read_distant(struct gather *gather, recmap_error *error) {
    struct overlap *overlap = &gather->overlap;
    recmap_status status = overlap_read(overlap, error);
    gather->is_final = status != RECMAP_OK;
    if (status != RECMAP_OK) return status;
    for (size_t i = 0; i < overlap->count; i++) {
        const struct overlapped_read *part = &overlap->parts[i];
        const struct source_read *read = &overlap->reads[i];
        struct shard_window window = overlap_window(overlap, i);
        if (part->is_range) {
            RETURN_IF_FAILED(gather_check_range(gather, i, error));
            continue;
        }
        status = gather_check_window(gather, part->first, part->end, &window, error);
        if (status == RECMAP_CORRUPT || status == RECMAP_STALE) {
            RETURN_IF_FAILED(
                read_origin(read->source, read->data, read->size, read->offset, error));
            status = gather_check_window(gather, part->first, part->end, &window, error);
        }
        if (status != RECMAP_OK) return status;
        keep_sums(gather, part->first, part->end);
    }
    return RECMAP_OK;
}
