/* Checking the records that a gather has read. */
#include "base/core/error.h"
#include "dataset/batch/gather_reads.h"
#include "dataset/open/row_caches.h"

/* Rows check a record in a mapped shard completely only once if it is long, or if they hold parts
 * of it: another row has the rest, and would check it again. */
static bool is_checked_once(const struct gather *gather, const struct shard_window *window,
                            size_t i) {
    if (!gather->caches || !window->shard || gather->dataset->check != FRAME_CHECK_ALL)
        return false;
    return gather->batch->places[i].frame_size >= VERIFIED_MIN_SIZE ||
           (gather->parts && gather->parts->records[i].is_cut);
}

static recmap_status check_frame(recmap_record *record, const struct gather *gather,
                                 const struct shard_window *window, size_t i, recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    uint64_t number = gather->batch->requests[i].number;
    bool is_kept = is_checked_once(gather, window, i);
    enum frame_check check = gather->dataset->check;
    if (is_kept && verified_has(&gather->caches->verified, number)) check = FRAME_CHECK_HEADER;
    recmap_status status =
        dataset_check_frame_as(record, gather->dataset, check, window, place, number, error);
    if (is_kept && status == RECMAP_OK && check == FRAME_CHECK_ALL)
        verified_add(&gather->caches->verified, number);
    return status;
}

/* Notes where in its frame the payload of a copied record is. */
static void note_payload(const struct gather *gather, size_t i, const struct shard_window *window,
                         const recmap_record *record) {
    struct gather_part *part = &gather->parts->records[i];
    const uint8_t *frame = window_find_frame(window, &gather->batch->places[i]);
    part->payload_offset = window->shard || !frame ? UINT64_MAX : (uint64_t)(record->data - frame);
    part->payload_size = record->size;
}

recmap_status gather_check(struct gather *gather, size_t i, const struct shard_window *window,
                           recmap_error *error) {
    recmap_batch *batch = gather->batch;
    recmap_record *record = &batch->records[batch->requests[i].slot];
    record->pin = NULL;
    RETURN_IF_FAILED(check_frame(record, gather, window, i, error));
    if (gather->parts) note_payload(gather, i, window, record);
    uint64_t work = batch->places[i].frame_size + INTERRUPT_RECORD_WORK;
    return interrupt_check(&batch->interrupt, work, error);
}

/* Checks a record of a local shard. If it fails, it is read once more, into memory of the batch:
 * what was read or mapped may have been changed on the way from the file. */
recmap_status gather_check_local(struct gather *gather, size_t i, const struct open_shard *shard,
                                 const struct shard_window *window, recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    recmap_status status = gather_check(gather, i, window, NULL);
    if (__builtin_expect(status == RECMAP_OK, 1)) return RECMAP_OK;
    if (status == RECMAP_CANCELLED) return interrupt_fail(error);
    bool is_possible;
    uint8_t *frame = batch_allocate(gather->batch, (size_t)place->frame_size);
    struct shard_window copy = {frame, place->offset, place->frame_size, NULL};
    if (frame &&
        open_shard_read_again(&is_possible, shard, frame, (size_t)place->frame_size, place->offset,
                              NULL) == RECMAP_OK &&
        is_possible && gather_check(gather, i, &copy, NULL) == RECMAP_OK)
        return RECMAP_OK;
    return gather_check(gather, i, window, error);
}

recmap_status gather_check_window(struct gather *gather, size_t first, size_t end,
                                  const struct shard_window *window, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t r = first; status == RECMAP_OK && r < end; r++)
        status = gather_check(gather, r, window, error);
    return status;
}

/* Returns true if bytes that were read or checked with this status may be right if they are read
 * again: on their way from a store, they may have been changed. The next read then requests them.
 */
bool gather_may_pass(const struct gather *gather, recmap_status status,
                     const struct index_place *place) {
    return (status == RECMAP_CORRUPT || status == RECMAP_STALE) &&
           open_shard_forget(gather->shard, place->offset, place->frame_size);
}
