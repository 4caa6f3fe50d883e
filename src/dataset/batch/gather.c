/* Reading many records at once: in file order, with prefetching, returned in the order of the
 * request.
 *
 * The wait for memory dominates, so each record passes through a pipeline of stages. Each stage
 * prefetches what the next one needs, and other records' stages run in between. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/activity.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/gather_reads.h"
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
};

static void leave_shard(struct gather *gather) {
    if (gather->shard && gather->is_borrowed) shard_cache_unpin(gather->shard);
    gather->shard = NULL;
}

/* Makes a shard the current one and pins it. The batch keeps the pin of a mapped shard, because its
 * records point into the mapping. If shards are never closed, the pin need not be kept. */
recmap_status gather_enter_shard(struct gather *gather, uint32_t shard_index, recmap_error *error) {
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

/* Notes which record's bytes are touched next, for describe_touched. Costs a store to memory. */
static void touch(struct gather *gather, size_t i) {
    atomic_store_explicit(&gather->touched, i, memory_order_release);
}

/* Called by a thread that asks what the gather waits for. What a touched record needs was found
 * before it was noted, and does not change until the gather ends. */
static bool describe_touched(struct activity_request *request, const void *context) {
    const struct gather *gather = context;
    size_t i = atomic_load_explicit(&gather->touched, memory_order_acquire);
    if (i == NOT_TOUCHING) return false;
    const struct index_place *place = &gather->batch->places[i];
    activity_request_fill(request, open_shard_path(gather->batch->shards[i]), place->offset,
                          place->frame_size);
    return true;
}

static recmap_status reach(struct gather *gather, size_t i, recmap_error *error) {
    recmap_batch *batch = gather->batch;
    struct index_place *place = &batch->places[i];
    RETURN_IF_FAILED(dataset_find_place(place, gather->dataset, batch->requests[i].number, error));
    if (gather->dataset->access != RECMAP_ACCESS_MAP) return RECMAP_OK;
    RETURN_IF_FAILED(gather_enter_shard(gather, place->shard_index, error));
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
    touch(gather, NOT_TOUCHING); /* but pages of the index */
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

static recmap_status read_some(struct gather *gather, size_t i, size_t count, size_t *next,
                               recmap_error *error) {
    uint32_t shard_index = gather->batch->places[i].shard_index;
    bool is_read = false;
    if (gather_is_partial(gather, i))
        RETURN_IF_FAILED(gather_read_partial(&is_read, gather, i, error));
    else RETURN_IF_FAILED(gather_take_fetched(&is_read, gather, i, error));
    if (is_read) return RECMAP_OK;
    const struct shard_entry *entry = &gather->dataset->shard_table[shard_index].entry;
    return entry->compression == COMPRESSION_NONE
               ? gather_read_merged(gather, i, count, next, error)
               : gather_read_compressed(gather, i, count, next, error);
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
    if (status == RECMAP_OK && is_due(&i, turn, LAG_CHECK, count) && batch->shards[i]) {
        touch(gather, i);
        status = gather_check_local(gather, i, batch->shards[i],
                                    open_shard_window(batch->shards[i]), error);
    }
    return status;
}

/* Runs the pipeline over the records of mapped shards, then reads the others. */
static recmap_status read_all(struct gather *gather, size_t count, recmap_error *error) {
    for (size_t turn = 0; turn < count + LAG_CHECK; turn++)
        RETURN_IF_FAILED(turn_stages(gather, turn, count, error));
    touch(gather, NOT_TOUCHING);
    for (size_t i = 0; i < count;) {
        size_t next = i + 1;
        if (!gather->batch->shards[i]) RETURN_IF_FAILED(read_some(gather, i, count, &next, error));
        i = next;
    }
    return gather_read_distant(gather, error);
}

/* Sets `is_final` if the error is not to be explained by looking for a bad record. */
static recmap_status gather_once(bool *is_final, recmap_batch *batch, recmap_dataset *dataset,
                                 struct row_caches *caches, struct gather_parts *parts,
                                 size_t count, recmap_error *error) {
    struct gather gather = {.batch = batch,
                            .dataset = dataset,
                            .caches = caches,
                            .parts = parts,
                            .touched = NOT_TOUCHING,
                            .overlap = {.batch = batch}};
    activity_set_pages(describe_touched, &gather);
    recmap_status status = read_all(&gather, count, error);
    activity_set_pages(NULL, NULL);
    leave_shard(&gather);
    overlap_deinit(&gather.overlap);
    batch->count = count;
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    *is_final = gather.is_final || status == RECMAP_NO_MEMORY || status == RECMAP_CANCELLED;
    return status;
}

static recmap_status read_alone(recmap_dataset *dataset, uint64_t number, recmap_error *error) {
    recmap_record record;
    RETURN_IF_FAILED(recmap_dataset_get(&record, dataset, number, error));
    recmap_record_release(&record);
    return RECMAP_OK;
}

/* Gathers `count` of the requests alone, and forgets their records. */
static recmap_status try_requests(bool *is_final, recmap_batch *batch, recmap_dataset *dataset,
                                  const struct batch_request *requests, size_t count,
                                  recmap_error *error) {
    memcpy(batch->requests, requests, count * sizeof *requests);
    recmap_status status = gather_once(is_final, batch, dataset, NULL, NULL, count, error);
    if (status == RECMAP_OK) recmap_batch_clear(batch);
    return status;
}

/* Some of the requests cannot be gathered. Returns the error of the first bad record, or OK if it
 * can be read by now. The pipeline need not have failed at that one: records are located ahead of
 * earlier ones, and read with neighbours. Halves of the requests are tried, because each record
 * alone costs a request to a remote store. */
static recmap_status find_first(bool *is_final, recmap_batch *batch, recmap_dataset *dataset,
                                const struct batch_request *requests, size_t count,
                                recmap_error *error) {
    *is_final = false;
    while (count > 1) {
        size_t half = count / 2;
        recmap_status status = try_requests(is_final, batch, dataset, requests, half, error);
        if (*is_final) return status;
        if (status == RECMAP_OK) requests += half;
        count = status == RECMAP_OK ? count - half : half;
    }
    return read_alone(dataset, requests->number, error);
}

/* Leaves the batch's requests as they are. */
static recmap_status find_fault(bool *is_final, recmap_batch *batch, recmap_dataset *dataset,
                                size_t count, recmap_error *error) {
    struct batch_request *requests = malloc(count * sizeof *requests);
    *is_final = true;
    if (!requests) return fail_memory(error);
    memcpy(requests, batch->requests, count * sizeof *requests);
    recmap_status status = find_first(is_final, batch, dataset, requests, count, error);
    memcpy(batch->requests, requests, count * sizeof *requests);
    free(requests);
    return status;
}

/* The batch's interrupt becomes the thread's, so that waits for a network also ask it. An error of
 * a network is returned as it is. After any other, the first bad record is looked for. If there is
 * none, the fault has passed. */
static recmap_status gather_requests(recmap_batch *batch, recmap_dataset *dataset,
                                     struct row_caches *caches, struct gather_parts *parts,
                                     size_t count, recmap_error *error) {
    recmap_error local;
    bool is_final;
    struct interrupt former =
        thread_interrupt_replace(batch->interrupt.function, batch->interrupt.context);
    recmap_status status = gather_once(&is_final, batch, dataset, caches, parts, count, &local);
    if (status != RECMAP_OK && !is_final && count) {
        status = find_fault(&is_final, batch, dataset, count, &local);
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
        RETURN_IF_FAILED(gather_enter_shard(gather, place->shard_index, error));
        struct source *distant = open_shard_distant_source(gather->shard);
        if (!distant || source_has(distant, place->offset, place->frame_size)) continue;
        uint64_t size;
        next = gather_merge_requests(gather, i, count, &size, true);
        RETURN_IF_FAILED(gather_plan_distant(gather, i, next, size, error));
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
    size_t distinct_count = 0;
    for (size_t i = 0; i < *count; i++) {
        struct batch_request request = batch->requests[i];
        if (!distinct_count || batch->requests[distinct_count - 1].number != request.number) {
            batch->requests[distinct_count] =
                (struct batch_request){request.number, distinct_count};
            distinct_count++;
        }
        slots[request.slot] = distinct_count - 1;
    }
    *count = distinct_count;
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

static recmap_status gather(recmap_batch *batch, recmap_dataset *dataset, const uint64_t *numbers,
                            size_t count, recmap_error *error) {
    struct fill_request request = {.numbers = numbers, .count = count};
    bool is_done;
    recmap_status status = parallel_fill(&is_done, batch, dataset, &request, error);
    if (is_done || status != RECMAP_OK) return status;
    return dataset_gather_here(batch, dataset, numbers, count, error);
}

recmap_status recmap_dataset_gather(recmap_batch *batch, recmap_dataset *dataset,
                                    const uint64_t *numbers, size_t count, recmap_error *error) {
    if (batch->has_draws) RETURN_IF_FAILED(batch_take_draws(batch, &batch->draws, count, error));
    RETURN_IF_FAILED(gather(batch, dataset, numbers, count, error));
    batch->has_place = batch->has_draws;
    return RECMAP_OK;
}

static recmap_status read(recmap_batch *batch, recmap_dataset *dataset, uint64_t first,
                          size_t count, recmap_error *error) {
    struct fill_request request = {.first = first, .count = count};
    bool is_done;
    recmap_status status = parallel_fill(&is_done, batch, dataset, &request, error);
    if (is_done || status != RECMAP_OK) return status;
    RETURN_IF_FAILED(list_range(batch, first, count, error));
    return gather_requests(batch, dataset, NULL, NULL, count, error);
}

recmap_status recmap_dataset_read(recmap_batch *batch, recmap_dataset *dataset, uint64_t first,
                                  size_t count, recmap_error *error) {
    recmap_batch_clear(batch);
    RETURN_IF_FAILED(dataset_check_range(dataset, first, count, error));
    if (batch->has_draws) RETURN_IF_FAILED(batch_take_draws(batch, &batch->draws, count, error));
    RETURN_IF_FAILED(read(batch, dataset, first, count, error));
    batch->has_place = batch->has_draws;
    return RECMAP_OK;
}
