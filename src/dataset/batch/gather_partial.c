/* Reading the parts of long records that rows need. */
#include <stdlib.h>

#include "base/core/error.h"
#include "dataset/batch/gather_reads.h"
#include "dataset/open/row_caches.h"

/* Checks a range of a payload. If it is not as it was when the record was checked, the record is
 * read as a whole instead. */
recmap_status gather_check_range(struct gather *gather, size_t read_index, recmap_error *error) {
    const struct source_read *read = &gather->overlap.reads[read_index];
    size_t i = gather->overlap.parts[read_index].first;
    const struct index_place *place = &gather->batch->places[i];
    struct gather_part *part = &gather->parts->records[i];
    uint64_t begin = read->offset - place->offset - part->payload_offset;
    if (!part->is_partial ||
        record_sums_check(gather->caches->sums, gather->batch->requests[i].number, read->data,
                          begin, begin + read->size))
        return RECMAP_OK;
    part->is_partial = false;
    return gather_read_alone(gather, read->source, i, error);
}

/* Reads a range of a record, if need be once more. */
static recmap_status read_range(const struct gather *gather, size_t i, uint8_t *bytes,
                                const struct payload_range *range, recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    uint64_t offset = place->offset + gather->parts->records[i].payload_offset + range->begin;
    size_t size = (size_t)(range->end - range->begin);
    recmap_status status =
        open_shard_read(gather->shard, bytes + range->begin, size, offset, error);
    if (gather_may_pass(gather, status, place))
        status = open_shard_read(gather->shard, bytes + range->begin, size, offset, error);
    if (status != RECMAP_OK)
        fail_at(error, NULL, gather->batch->requests[i].number, RECMAP_NO_OFFSET);
    return status;
}

/* Reads the ranges of a record whose other bytes are not needed. The memory for those is never
 * touched, so it costs only addresses. */
static recmap_status read_ranges(const struct gather *gather, size_t i, recmap_error *error) {
    recmap_batch *batch = gather->batch;
    const struct gather_part *part = &gather->parts->records[i];
    uint8_t *bytes = batch_allocate(batch, (size_t)part->payload_size);
    if (!bytes) return fail_memory(error);
    for (size_t r = part->first_range; r != SIZE_MAX; r = gather->parts->ranges[r].next)
        RETURN_IF_FAILED(read_range(gather, i, bytes, &gather->parts->ranges[r], error));
    batch->records[batch->requests[i].slot] =
        (recmap_record){bytes, (size_t)part->payload_size, batch->requests[i].number, NULL};
    return RECMAP_OK;
}

/* Plans to read the blocks of a distant record that have its ranges. */
static recmap_status plan_ranges(struct gather *gather, size_t i, recmap_error *error) {
    const struct gather_part *part = &gather->parts->records[i];
    uint64_t payload = gather->batch->places[i].offset + part->payload_offset;
    size_t count = ranges_count(gather->parts, part->first_range);
    struct payload_range *ranges = malloc((count + 1) * sizeof *ranges);
    uint8_t *bytes = batch_allocate(gather->batch, (size_t)part->payload_size);
    recmap_status status = ranges && bytes ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK)
        count = ranges_merge(ranges, gather->parts, part->first_range, part->payload_size);
    for (size_t r = 0; status == RECMAP_OK && r < count; r++) {
        struct open_shard *pin;
        uint64_t begin = ranges[r].begin;
        status = dataset_pin_shard(&pin, gather->dataset, gather->shard_index, error);
        if (status == RECMAP_OK)
            status = overlap_add_range(&gather->overlap, i, bytes + begin, payload + begin,
                                       ranges[r].end - begin, pin, error);
    }
    free(ranges);
    /* The record has the size of the whole payload, of which only the ranges are ever filled. */
    const struct batch_request *request = &gather->batch->requests[i];
    gather->batch->records[request->slot] =
        (recmap_record){bytes, (size_t)part->payload_size, request->number, NULL};
    return status;
}

/* What the network gives must be checked: a record of a distant shard is read in part only if
 * checksums of its blocks are kept. A record that is read as a whole is no longer partial. */
recmap_status gather_read_partial(bool *is_read, struct gather *gather, size_t i,
                                  recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    struct gather_part *part = &gather->parts->records[i];
    *is_read = false;
    RETURN_IF_FAILED(gather_enter_shard(gather, place->shard_index, error));
    bool is_distant = open_shard_distant_source(gather->shard);
    part->is_partial =
        bytes_fit(part->payload_offset, part->payload_size, place->frame_size) &&
        (!is_distant || record_sums_has(gather->caches->sums, gather->batch->requests[i].number,
                                        part->payload_size));
    *is_read = part->is_partial;
    if (!*is_read) return RECMAP_OK;
    return is_distant ? plan_ranges(gather, i, error) : read_ranges(gather, i, error);
}
