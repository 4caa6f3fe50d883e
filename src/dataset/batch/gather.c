/* Reading many records at once: in file order, with prefetching, returned in the order of the
 * request.
 *
 * The wait for memory dominates, so each record passes through a pipeline of stages. Each stage
 * prefetches what the next one needs, and other records' stages run in between. */
#include <assert.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/overlap.h"
#include "dataset/batch/parallel.h"
#include "dataset/batch/ranges.h"
#include "dataset/open/dataset.h"
#include "dataset/open/row_caches.h"

enum {
    /* The stages, each as the number of records between it and the first stage (the entry in the
     * index): prefetching the packed offset, locating the frame, prefetching its
     * bytes into the first-level cache, and checking it. */
    LAG_OFFSET = 6,
    LAG_LOCATE = 24,
    LAG_PREFETCH = 40,
    LAG_CHECK = 46,
    LOCATED_AT_ONCE = 8, /* records whose pages' addresses are translated together */
    READ_GAP = 4096,     /* records this close to each other share a pread */
    READ_MAX = 1 << 20,
};

/* The state of one gather. */
struct gather {
    recmap_batch *batch;
    recmap_dataset *dataset;
    struct open_shard *shard; /* of the previous record */
    uint32_t shard_index;
    bool is_borrowed; /* the gather holds the pin, not the batch: no record points into the shard */
    struct row_caches *caches;  /* what is known of long records; NULL: each is read and checked */
    struct gather_parts *parts; /* how to read each record; NULL: as a whole */
    struct overlap overlap;     /* reads of distant shards */
    bool is_final; /* the error is one of a network: reading again would not improve it */
};

static void leave_shard(struct gather *gather) {
    if (gather->shard && gather->is_borrowed) shard_cache_unpin(gather->shard);
    gather->shard = NULL;
}

/* Makes a shard the current one and pins it. The batch keeps the pin of a mapped shard, because its
 * records point into the mapping. If shards are never closed, the pin need not be kept. */
static recmap_status enter_shard(struct gather *gather, uint32_t shard_index, recmap_error *error) {
    if (gather->shard && gather->shard_index == shard_index) return RECMAP_OK;
    leave_shard(gather);
    struct open_shard *shard;
    RETURN_IF_FAILED(dataset_pin_shard(&shard, gather->dataset, shard_index, error));
    gather->is_borrowed = !open_shard_bytes(shard);
    if (!gather->is_borrowed && gather->dataset->evicts_shards &&
        !batch_keep_pin(gather->batch, shard)) {
        shard_cache_unpin(shard);
        return fail_memory(error);
    }
    gather->shard = shard;
    gather->shard_index = shard_index;
    return RECMAP_OK;
}

static recmap_status reach(struct gather *gather, size_t i, recmap_error *error) {
    recmap_batch *batch = gather->batch;
    struct index_place *place = &batch->places[i];
    RETURN_IF_FAILED(dataset_find_place(place, gather->dataset, batch->requests[i].number, error));
    if (gather->dataset->access != RECMAP_ACCESS_MAP) return RECMAP_OK;
    RETURN_IF_FAILED(enter_shard(gather, place->shard_index, error));
    if (open_shard_bytes(gather->shard)) batch->shards[i] = gather->shard;
    return RECMAP_OK;
}

/* Locates record `i` of the sorted requests. */
static recmap_status locate(struct gather *gather, size_t i, recmap_error *error) {
    gather->batch->shards[i] = NULL;
    recmap_status status = reach(gather, i, error);
    if (status != RECMAP_OK)
        fail_at(error, NULL, gather->batch->requests[i].number, RECMAP_NO_OFFSET);
    return status;
}

/* Prefetches the first line of each frame, then the rest of each. A prefetch waits for the address
 * translation of its page, which takes as long as a memory access; the waits of consecutive
 * prefetches overlap. */
static void prefetch_frames(const struct gather *gather, size_t first, size_t end) {
    const recmap_batch *batch = gather->batch;
    const uint8_t *frames[LOCATED_AT_ONCE];
    size_t count = 0;
    uint64_t sizes[LOCATED_AT_ONCE];
    for (size_t i = first; i < end; i++) {
        if (!batch->shards[i]) continue;
        frames[count] = open_shard_bytes(batch->shards[i]) + batch->places[i].offset;
        sizes[count++] = batch->places[i].frame_size;
    }
    for (size_t i = 0; i < count; i++) prefetch_line(frames[i], PREFETCH_SECOND_LEVEL);
    /* Longer frames take so long to check that LAG_PREFETCH is early enough for them. */
    for (size_t i = 0; i < count; i++)
        if (sizes[i] <= PREFETCH_MAX)
            dataset_prefetch_frame(gather->dataset, frames[i], sizes[i], PREFETCH_SECOND_LEVEL);
}

/* Locates a group of records when the last of them is due, and starts to prefetch their bytes. */
static recmap_status locate_some(struct gather *gather, size_t last, size_t count,
                                 recmap_error *error) {
    assert(!last ||
           gather->batch->requests[last - 1].number <= gather->batch->requests[last].number);
    if (last + 1 < count && (last + 1) % LOCATED_AT_ONCE) return RECMAP_OK;
    size_t first = last - last % LOCATED_AT_ONCE;
    for (size_t i = first; i <= last; i++) RETURN_IF_FAILED(locate(gather, i, error));
    prefetch_frames(gather, first, last + 1);
    return RECMAP_OK;
}

/* Prefetches record `i`, which was located, into the first-level cache. */
static void prefetch_record(const struct gather *gather, size_t i) {
    const recmap_batch *batch = gather->batch;
    if (!batch->shards[i]) return;
    dataset_prefetch_frame(gather->dataset,
                           open_shard_bytes(batch->shards[i]) + batch->places[i].offset,
                           batch->places[i].frame_size, PREFETCH_FIRST_LEVEL);
}

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

static recmap_status check(struct gather *gather, size_t i, const struct shard_window *window,
                           recmap_error *error) {
    recmap_batch *batch = gather->batch;
    recmap_record *record = &batch->records[batch->requests[i].slot];
    record->pin = NULL;
    RETURN_IF_FAILED(check_frame(record, gather, window, i, error));
    if (gather->parts) note_payload(gather, i, window, record);
    uint64_t work = batch->places[i].frame_size + INTERRUPT_RECORD_WORK;
    return interrupt_check(&batch->interrupt, work, error);
}

static bool is_partial(const struct gather *gather, size_t i) {
    return gather->parts && gather->parts->records[i].is_partial;
}

/* Returns the end of the requests from `i` on that share a read because each lies close to the
 * preceding ones. */
static size_t merge_requests(const struct gather *gather, size_t i, size_t end, uint64_t *size,
                             bool is_requested) {
    const uint64_t gap = is_requested ? OVERLAP_GAP : READ_GAP;
    const uint64_t size_max = is_requested ? OVERLAP_MAX : READ_MAX;
    const recmap_batch *batch = gather->batch;
    const struct index_place *first = &batch->places[i];
    struct shared_range range = {first->shard_index, first->offset, first->frame_size};
    size_t next = i + 1;
    while (next < end && !batch->shards[next] && !is_partial(gather, next) &&
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

/* Checks a record of a local shard. If it fails, it is read once more, into memory of the batch:
 * what was read or mapped may have been changed on the way from the file. */
static recmap_status check_local(struct gather *gather, size_t i, const struct open_shard *shard,
                                 const struct shard_window *window, recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    recmap_status status = check(gather, i, window, NULL);
    if (__builtin_expect(status == RECMAP_OK, 1)) return RECMAP_OK;
    if (status == RECMAP_CANCELLED) return interrupt_fail(error);
    bool is_possible;
    uint8_t *frame = batch_allocate(gather->batch, (size_t)place->frame_size);
    struct shard_window copy = {frame, place->offset, place->frame_size, NULL};
    if (frame &&
        open_shard_read_again(&is_possible, shard, frame, (size_t)place->frame_size, place->offset,
                              NULL) == RECMAP_OK &&
        is_possible && check(gather, i, &copy, NULL) == RECMAP_OK)
        return RECMAP_OK;
    return check(gather, i, window, error);
}

/* Plans to read the requests [first, end) with one read of a distant shard. */
static recmap_status plan_distant(struct gather *gather, size_t first, size_t end, uint64_t size,
                                  recmap_error *error) {
    struct open_shard *pin;
    const struct index_place *place = &gather->batch->places[first];
    RETURN_IF_FAILED(dataset_pin_shard(&pin, gather->dataset, place->shard_index, error));
    return overlap_add(&gather->overlap, first, end, place->offset, size, pin, error);
}

static recmap_status check_window(struct gather *gather, size_t first, size_t end,
                                  const struct shard_window *window, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t r = first; status == RECMAP_OK && r < end; r++)
        status = check(gather, r, window, error);
    return status;
}

/* Keeps checksums of the long records of a distant shard that were read as a whole. */
static void keep_sums(const struct gather *gather, size_t first, size_t end) {
    for (size_t r = first; gather->parts && r < end; r++) {
        const recmap_record *record = &gather->batch->records[gather->batch->requests[r].slot];
        if (record->size >= LAYOUT_MIN_SIZE)
            record_sums_keep(gather->caches->sums, record->number, record->data, record->size);
    }
}

/* Reads and checks a record of a distant shard by itself, because the bytes that arrived before
 * were damaged. */
static recmap_status read_alone(struct gather *gather, struct source *source, size_t i,
                                recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    uint8_t *frame = batch_allocate(gather->batch, (size_t)place->frame_size);
    if (!frame) return fail_memory(error);
    source_forget(source, place->offset, place->frame_size);
    RETURN_IF_FAILED(source_read(source, frame, (size_t)place->frame_size, place->offset, error));
    struct shard_window window = {frame, place->offset, place->frame_size, NULL};
    return check(gather, i, &window, error);
}

/* Takes a record from what was requested for the whole batch, if it is there. */
static recmap_status take_fetched(bool *is_taken, struct gather *gather, size_t i,
                                  recmap_error *error) {
    const struct overlap *fetched = gather->batch->fetched;
    size_t read = fetched ? overlap_find(fetched, gather->batch->requests[i].number) : SIZE_MAX;
    *is_taken = read != SIZE_MAX;
    if (!*is_taken) return RECMAP_OK;
    struct shard_window window = overlap_window(fetched, read);
    recmap_status status = check(gather, i, &window, error);
    if (status != RECMAP_CORRUPT && status != RECMAP_STALE) return status;
    return read_alone(gather, fetched->reads[read].source, i, error);
}

/* Checks a range of a payload. If it is not as it was when the record was checked, the record is
 * read as a whole instead. */
static recmap_status check_range(struct gather *gather, size_t read_index, recmap_error *error) {
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
    return read_alone(gather, read->source, i, error);
}

/* Makes the planned reads and checks their records. Bytes that were changed on the way fail the
 * check, so they are read once more: only what is wrong at the source fails twice. */
static recmap_status read_distant(struct gather *gather, recmap_error *error) {
    struct overlap *overlap = &gather->overlap;
    recmap_status status = overlap_read(overlap, error);
    gather->is_final = status != RECMAP_OK;
    if (status != RECMAP_OK) return status;
    for (size_t i = 0; i < overlap->count; i++) {
        const struct overlapped_read *part = &overlap->parts[i];
        const struct source_read *read = &overlap->reads[i];
        struct shard_window window = overlap_window(overlap, i);
        if (part->is_range) {
            RETURN_IF_FAILED(check_range(gather, i, error));
            continue;
        }
        status = check_window(gather, part->first, part->end, &window, error);
        if (status == RECMAP_CORRUPT || status == RECMAP_STALE) {
            source_forget(read->source, read->offset, read->size);
            RETURN_IF_FAILED(
                source_read(read->source, read->data, read->size, read->offset, error));
            status = check_window(gather, part->first, part->end, &window, error);
        }
        if (status != RECMAP_OK) return status;
        keep_sums(gather, part->first, part->end);
    }
    return RECMAP_OK;
}

/* Reads and checks the requests from `i` on that share a read. */
static recmap_status read_merged(struct gather *gather, size_t i, size_t count, size_t *next,
                                 recmap_error *error) {
    recmap_batch *batch = gather->batch;
    const struct index_place *first = &batch->places[i];
    uint64_t size;
    RETURN_IF_FAILED(enter_shard(gather, first->shard_index, error));
    struct source *distant = open_shard_distant_source(gather->shard);
    bool is_requested = distant && !source_has(distant, first->offset, first->frame_size);
    *next = merge_requests(gather, i, count, &size, is_requested);
    if (distant && !is_requested) *next = cut_at_missing(gather, distant, i, *next, &size);
    if (distant) return plan_distant(gather, i, *next, size, error);
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    recmap_status status =
        open_shard_read(gather->shard, bytes, (size_t)size, first->offset, error);
    if (status != RECMAP_OK) fail_at(error, NULL, batch->requests[i].number, RECMAP_NO_OFFSET);
    struct shard_window window = {bytes, first->offset, size, NULL};
    for (size_t r = i; status == RECMAP_OK && r < *next; r++)
        status = check_local(gather, r, gather->shard, &window, error);
    return status;
}

/* Returns the end of the requests from `i` on that are copied together from a compressed shard. */
static size_t merge_compressed(const struct gather *gather, size_t i, size_t end, uint64_t *size) {
    const struct index_place *places = gather->batch->places;
    size_t next = i + 1;
    *size = places[i].frame_size;
    while (next < end && !is_partial(gather, next) &&
           places[next].shard_index == places[i].shard_index &&
           *size + places[next].frame_size <= READ_MAX)
        *size += places[next++].frame_size;
    return next;
}

/* Returns true if bytes that were read or checked with this status may be right if they are read
 * again: on their way from a store, they may have been changed. The next read then requests them.
 */
static bool may_pass(const struct gather *gather, recmap_status status,
                     const struct index_place *place) {
    return (status == RECMAP_CORRUPT || status == RECMAP_STALE) &&
           open_shard_forget(gather->shard, place->offset, place->frame_size);
}

/* Copies the requests [first, end) from the current shard, one after another, and checks them. */
static recmap_status copy_compressed(struct gather *gather, uint8_t *bytes, size_t first,
                                     size_t end, recmap_error *error) {
    recmap_batch *batch = gather->batch;
    recmap_status status =
        open_shard_read_frames(gather->shard, bytes, &batch->places[first], end - first, error);
    if (status != RECMAP_OK) fail_at(error, NULL, batch->requests[first].number, RECMAP_NO_OFFSET);
    for (size_t r = first; status == RECMAP_OK && r < end; r++) {
        const struct index_place *place = &batch->places[r];
        struct shard_window window = {bytes, place->offset, place->frame_size, NULL};
        status = check(gather, r, &window, error);
        bytes += place->frame_size;
    }
    return status;
}

/* Reads the requests from `i` on that are copied together, if need be once more. */
static recmap_status read_compressed(struct gather *gather, size_t i, size_t count, size_t *next,
                                     recmap_error *error) {
    recmap_batch *batch = gather->batch;
    uint64_t size;
    *next = merge_compressed(gather, i, count, &size);
    RETURN_IF_FAILED(enter_shard(gather, batch->places[i].shard_index, error));
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    recmap_status status = copy_compressed(gather, bytes, i, *next, error);
    if (may_pass(gather, status, &batch->places[i]))
        status = copy_compressed(gather, bytes, i, *next, error);
    return status;
}

/* Reads a range of a record, if need be once more. */
static recmap_status read_range(const struct gather *gather, size_t i, uint8_t *bytes,
                                const struct payload_range *range, recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    uint64_t offset = place->offset + gather->parts->records[i].payload_offset + range->begin;
    size_t size = (size_t)(range->end - range->begin);
    recmap_status status =
        open_shard_read(gather->shard, bytes + range->begin, size, offset, error);
    if (may_pass(gather, status, place))
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
    const struct batch_request *request = &gather->batch->requests[i];
    gather->batch->records[request->slot] =
        (recmap_record){bytes, (size_t)part->payload_size, request->number, NULL};
    return status;
}

/* What the network gives must be checked: a record of a distant shard is read in part only if
 * checksums of its blocks are kept. A record that is read as a whole is no longer partial. */
static recmap_status read_partial(bool *is_read, struct gather *gather, size_t i,
                                  recmap_error *error) {
    const struct index_place *place = &gather->batch->places[i];
    struct gather_part *part = &gather->parts->records[i];
    *is_read = false;
    RETURN_IF_FAILED(enter_shard(gather, place->shard_index, error));
    bool is_distant = open_shard_distant_source(gather->shard);
    part->is_partial =
        bytes_fit(part->payload_offset, part->payload_size, place->frame_size) &&
        (!is_distant || record_sums_has(gather->caches->sums, gather->batch->requests[i].number,
                                        part->payload_size));
    *is_read = part->is_partial;
    if (!*is_read) return RECMAP_OK;
    return is_distant ? plan_ranges(gather, i, error) : read_ranges(gather, i, error);
}

static recmap_status read_some(struct gather *gather, size_t i, size_t count, size_t *next,
                               recmap_error *error) {
    uint32_t shard_index = gather->batch->places[i].shard_index;
    bool is_read = false;
    if (is_partial(gather, i)) RETURN_IF_FAILED(read_partial(&is_read, gather, i, error));
    else RETURN_IF_FAILED(take_fetched(&is_read, gather, i, error));
    if (is_read) return RECMAP_OK;
    const struct shard_entry *entry = &gather->dataset->shard_table[shard_index].entry;
    return entry->compression == COMPRESSION_NONE ? read_merged(gather, i, count, next, error)
                                                  : read_compressed(gather, i, count, next, error);
}

/* Returns true if a stage has a record in this turn; `i` is set to its index. */
static bool is_due(size_t *i, size_t turn, size_t lag, size_t count) {
    *i = turn - lag;
    return turn >= lag && *i < count;
}

static recmap_status turn_stages(struct gather *gather, size_t turn, size_t count,
                                 recmap_error *error) {
    recmap_batch *batch = gather->batch;
    const recmap_dataset *dataset = gather->dataset;
    recmap_status status = RECMAP_OK;
    size_t i;
    if (is_due(&i, turn, 0, count)) dataset_prefetch_place(dataset, batch->requests[i].number);
    if (is_due(&i, turn, LAG_OFFSET, count))
        dataset_prefetch_place_bits(dataset, batch->requests[i].number);
    if (is_due(&i, turn, LAG_LOCATE, count)) status = locate_some(gather, i, count, error);
    if (status == RECMAP_OK && is_due(&i, turn, LAG_PREFETCH, count)) prefetch_record(gather, i);
    if (status == RECMAP_OK && is_due(&i, turn, LAG_CHECK, count) && batch->shards[i])
        status =
            check_local(gather, i, batch->shards[i], open_shard_window(batch->shards[i]), error);
    return status;
}

/* Runs the pipeline over the records of mapped shards, then reads the others. */
static recmap_status read_all(struct gather *gather, size_t count, recmap_error *error) {
    for (size_t turn = 0; turn < count + LAG_CHECK; turn++)
        RETURN_IF_FAILED(turn_stages(gather, turn, count, error));
    for (size_t i = 0; i < count;) {
        size_t next = i + 1;
        if (!gather->batch->shards[i]) RETURN_IF_FAILED(read_some(gather, i, count, &next, error));
        i = next;
    }
    return read_distant(gather, error);
}

/* Returns the error of the first bad record, or OK if all can be read by now. The pipeline need not
 * have failed at that one: records are located ahead of earlier ones, and read with neighbours. */
static recmap_status find_first(recmap_batch *batch, recmap_dataset *dataset, size_t count,
                                recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        recmap_record record;
        RETURN_IF_FAILED(recmap_dataset_get(&record, dataset, batch->requests[i].number, error));
        recmap_record_release(&record);
    }
    return RECMAP_OK;
}

/* Sets `is_final` if the error is not to be explained by reading the records one by one. */
static recmap_status gather_once(bool *is_final, recmap_batch *batch, recmap_dataset *dataset,
                                 struct row_caches *caches, struct gather_parts *parts,
                                 size_t count, recmap_error *error) {
    struct gather gather = {.batch = batch,
                            .dataset = dataset,
                            .caches = caches,
                            .parts = parts,
                            .overlap = {.batch = batch}};
    recmap_status status = read_all(&gather, count, error);
    leave_shard(&gather);
    overlap_deinit(&gather.overlap);
    batch->count = count;
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    *is_final = gather.is_final || status == RECMAP_NO_MEMORY || status == RECMAP_CANCELLED;
    return status;
}

/* The batch's interrupt becomes the thread's, so that waits for a network also ask it. An error of
 * a network is returned as it is. After any other, the records are read one by one. If none is bad,
 * the fault has passed. */
static recmap_status gather_requests(recmap_batch *batch, recmap_dataset *dataset,
                                     struct row_caches *caches, struct gather_parts *parts,
                                     size_t count, recmap_error *error) {
    recmap_error local;
    bool is_final;
    struct interrupt former =
        thread_interrupt_replace(batch->interrupt.function, batch->interrupt.context);
    recmap_status status = gather_once(&is_final, batch, dataset, caches, parts, count, &local);
    if (status != RECMAP_OK && !is_final) {
        status = find_first(batch, dataset, count, &local);
        if (status == RECMAP_OK)
            status = gather_once(&is_final, batch, dataset, caches, parts, count, &local);
    }
    if (status != RECMAP_OK && error) *error = local;
    thread_interrupt_restore(&former);
    return status;
}

/* ---- Requests. */

/* Fills the requests of an empty batch, sorted by number. */
static recmap_status list_requests(recmap_batch *batch, const recmap_dataset *dataset,
                                   const uint64_t *numbers, size_t count, recmap_error *error) {
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= dataset->info.record_count)
            return dataset_check_range(dataset, numbers[i], 1, error);
        batch->requests[i] = (struct batch_request){numbers[i], i};
    }
    return batch_sort_requests(batch, count, error);
}

/* The same for the records from `first` on, which must exist. */
static recmap_status list_range(recmap_batch *batch, uint64_t first, size_t count,
                                recmap_error *error) {
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = 0; i < count; i++) batch->requests[i] = (struct batch_request){first + i, i};
    return RECMAP_OK;
}

recmap_status dataset_gather_here(recmap_batch *batch, recmap_dataset *dataset,
                                  const uint64_t *numbers, size_t count, recmap_error *error) {
    recmap_batch_clear(batch);
    RETURN_IF_FAILED(list_requests(batch, dataset, numbers, count, error));
    return gather_requests(batch, dataset, NULL, NULL, count, error);
}

/* Plans the reads of distant shards that need a request. */
static recmap_status plan_requests(struct gather *gather, size_t count, recmap_error *error) {
    recmap_batch *batch = gather->batch;
    for (size_t i = 0; i < count; i++) RETURN_IF_FAILED(locate(gather, i, error));
    for (size_t i = 0, next; i < count; i = next) {
        const struct index_place *place = &batch->places[i];
        next = i + 1;
        if (batch->shards[i]) continue;
        RETURN_IF_FAILED(enter_shard(gather, place->shard_index, error));
        struct source *distant = open_shard_distant_source(gather->shard);
        if (!distant || source_has(distant, place->offset, place->frame_size)) continue;
        uint64_t size;
        next = merge_requests(gather, i, count, &size, true);
        RETURN_IF_FAILED(plan_distant(gather, i, next, size, error));
    }
    return RECMAP_OK;
}

static recmap_status list_fill(recmap_batch *batch, const recmap_dataset *dataset,
                               const struct fill_request *request) {
    return request->numbers ? list_requests(batch, dataset, request->numbers, request->count, NULL)
                            : list_range(batch, request->first, request->count, NULL);
}

recmap_status dataset_fetch(struct overlap *fetched, recmap_batch *batch, recmap_dataset *dataset,
                            const struct fill_request *request, recmap_error *error) {
    struct gather gather = {.batch = batch, .dataset = dataset, .overlap = {.batch = batch}};
    struct interrupt former =
        thread_interrupt_replace(batch->interrupt.function, batch->interrupt.context);
    recmap_status status = list_fill(batch, dataset, request);
    if (status == RECMAP_OK) status = plan_requests(&gather, request->count, NULL);
    leave_shard(&gather);
    bool is_planned = status == RECMAP_OK;
    if (is_planned) status = overlap_read(&gather.overlap, error);
    else status = status == RECMAP_CANCELLED ? interrupt_fail(error) : RECMAP_OK;
    thread_interrupt_restore(&former);
    *fetched = gather.overlap;
    if (is_planned) return status;
    overlap_deinit(&gather.overlap);
    *fetched = (struct overlap){.batch = batch};
    return status;
}

/* Sorts the requests and removes repeated ones. Request i then goes to slot i, and slots[j] is the
 * slot of the j-th number asked for. Sets `count` to the number of requests that are left. */
static recmap_status merge_equal(size_t *slots, size_t *count, recmap_batch *batch,
                                 recmap_error *error) {
    RETURN_IF_FAILED(batch_sort_requests(batch, *count, error));
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct batch_request request = batch->requests[i];
        if (!kept || batch->requests[kept - 1].number != request.number) {
            batch->requests[kept] = (struct batch_request){request.number, kept};
            kept++;
        }
        slots[request.slot] = kept - 1;
    }
    *count = kept;
    return RECMAP_OK;
}

recmap_status dataset_request_records(size_t *slots, size_t *record_count, recmap_batch *batch,
                                      const recmap_dataset *dataset, const recmap_piece *pieces,
                                      size_t count, recmap_error *error) {
    recmap_batch_clear(batch);
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].record >= dataset->info.record_count)
            return dataset_check_range(dataset, pieces[i].record, 1, error);
        batch->requests[i] = (struct batch_request){pieces[i].record, i};
    }
    *record_count = count;
    return merge_equal(slots, record_count, batch, error);
}

recmap_status dataset_gather_requested(recmap_batch *batch, recmap_dataset *dataset,
                                       struct gather_parts *parts, size_t record_count,
                                       recmap_error *error) {
    struct row_caches *caches = row_caches_of(dataset);
    if (!caches) return fail_memory(error);
    return gather_requests(batch, dataset, caches, parts, record_count, error);
}

recmap_status recmap_dataset_gather(recmap_batch *batch, recmap_dataset *dataset,
                                    const uint64_t *numbers, size_t count, recmap_error *error) {
    struct fill_request request = {.numbers = numbers, .count = count};
    bool is_done;
    recmap_status status = parallel_fill(&is_done, batch, dataset, &request, error);
    if (is_done || status != RECMAP_OK) return status;
    return dataset_gather_here(batch, dataset, numbers, count, error);
}

recmap_status recmap_dataset_read(recmap_batch *batch, recmap_dataset *dataset, uint64_t first,
                                  size_t count, recmap_error *error) {
    recmap_batch_clear(batch);
    RETURN_IF_FAILED(dataset_check_range(dataset, first, count, error));
    struct fill_request request = {.first = first, .count = count};
    bool is_done;
    recmap_status status = parallel_fill(&is_done, batch, dataset, &request, error);
    if (is_done || status != RECMAP_OK) return status;
    RETURN_IF_FAILED(list_range(batch, first, count, error));
    return gather_requests(batch, dataset, NULL, NULL, count, error);
}
