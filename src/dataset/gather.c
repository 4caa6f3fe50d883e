/* Many records at once: visited in file order, fetched ahead of use, returned as asked. */
#include <stdlib.h>

#include "base/error.h"
#include "dataset/batch.h"
#include "dataset/dataset.h"

enum {
    /* Each record passes through stages, and waits between them for the processor to fetch what the
     * next one needs: its entry in the index, its offset, its bytes, first from memory and then
     * from the second-level cache. In records behind the first. */
    LAG_OFFSET = 6,
    LAG_LOCATE = 24,
    LAG_FETCH = 40,
    LAG_CHECK = 46,
    LOCATED_AT_ONCE = 8, /* so many addresses are looked up side by side */
    READ_GAP = 4096,     /* records this near each other are read with one pread */
    READ_MAX = 1 << 20,
};

/* The state of one gather as it goes from record to record. */
struct gather {
    recmap_batch *batch;
    recmap_dataset *dataset;
    struct open_shard *shard; /* of the record before */
    uint32_t shard_index;
    bool is_borrowed; /* the shard is pinned here, not by the batch: nothing points into it */
};

static void leave_shard(struct gather *at) {
    if (at->shard && at->is_borrowed) shard_cache_unpin(at->shard);
    at->shard = NULL;
}

/* Pins the shard, unless it is the one at hand. Records point into a mapped one: the batch keeps
 * the pin. Where shards are never closed there is nothing to give back. */
static recmap_status enter_shard(struct gather *at, uint32_t shard_index, recmap_error *error) {
    if (at->shard && at->shard_index == shard_index) return RECMAP_OK;
    leave_shard(at);
    struct open_shard *shard;
    recmap_status status = shard_cache_pin(&shard, at->dataset->shards, shard_index, error);
    if (status != RECMAP_OK) return status;
    at->is_borrowed = !open_shard_bytes(shard);
    if (!at->is_borrowed && shard_cache_evicts(at->dataset->shards) &&
        !batch_keep_pin(at->batch, shard)) {
        shard_cache_unpin(shard);
        return fail_memory(error);
    }
    at->shard = shard;
    at->shard_index = shard_index;
    return RECMAP_OK;
}

/* Finds record `i` of the sorted requests. */
static recmap_status locate(struct gather *at, size_t i, recmap_error *error) {
    recmap_batch *batch = at->batch;
    uint64_t number = batch->requests[i].number;
    struct index_place *place = &batch->places[i];
    batch->shards[i] = NULL;
    recmap_status status = index_locate(place, at->dataset->index, number, error);
    if (status == RECMAP_OK && at->dataset->access != RECMAP_ACCESS_MAP) return RECMAP_OK;
    if (status == RECMAP_OK) status = enter_shard(at, place->shard_index, error);
    if (status != RECMAP_OK) {
        fail_at(error, NULL, number, RECMAP_NO_OFFSET);
        return status;
    }
    if (open_shard_bytes(at->shard)) batch->shards[i] = at->shard;
    return RECMAP_OK;
}

/* Asks for the first line of each, and then for the rest. A request waits until the address of its
 * page was looked up, which takes as long as memory does, but several that follow each other at
 * once wait together. */
static void reach(const struct gather *at, size_t first, size_t end) {
    const recmap_batch *batch = at->batch;
    const uint8_t *frames[LOCATED_AT_ONCE];
    size_t count = 0;
    uint64_t sizes[LOCATED_AT_ONCE];
    for (size_t i = first; i < end; i++) {
        if (!batch->shards[i]) continue;
        frames[count] = open_shard_bytes(batch->shards[i]) + batch->places[i].offset;
        sizes[count++] = batch->places[i].frame_size;
    }
    for (size_t i = 0; i < count; i++) fetch_line(frames[i], FETCH_SECOND_LEVEL);
    /* Checking all of longer ones takes so long that the second step is early enough. */
    for (size_t i = 0; i < count; i++)
        if (sizes[i] <= FETCH_MAX)
            dataset_fetch_frame(at->dataset, frames[i], sizes[i], FETCH_SECOND_LEVEL);
}

/* Finds some records, when the last of them is due, and starts to fetch their bytes. */
static recmap_status locate_some(struct gather *at, size_t last, size_t count,
                                 recmap_error *error) {
    if (last + 1 < count && (last + 1) % LOCATED_AT_ONCE) return RECMAP_OK;
    size_t first = last - last % LOCATED_AT_ONCE;
    for (size_t i = first; i <= last; i++) {
        recmap_status status = locate(at, i, error);
        if (status != RECMAP_OK) return status;
    }
    reach(at, first, last + 1);
    return RECMAP_OK;
}

/* Brings record `i`, which was located, near. */
static void fetch(const struct gather *at, size_t i) {
    const recmap_batch *batch = at->batch;
    if (!batch->shards[i]) return;
    dataset_fetch_frame(at->dataset, open_shard_bytes(batch->shards[i]) + batch->places[i].offset,
                        batch->places[i].frame_size, FETCH_FIRST_LEVEL);
}

static recmap_status check(struct gather *at, size_t i, const struct shard_window *window,
                           recmap_error *error) {
    recmap_batch *batch = at->batch;
    recmap_record *record = &batch->records[batch->requests[i].slot];
    record->pin = NULL;
    return dataset_check_frame(record, at->dataset, window, &batch->places[i],
                               batch->requests[i].number, error);
}

/* The end of the requests from `i` on that one read gets, since each lies near the ones before it.
 * Requests are sorted by number, but their places need not ascend: a forged index can give a later
 * record an earlier place. Such a record begins a read of its own. */
static size_t near_ones(const struct gather *at, size_t i, size_t end, uint64_t *size) {
    const recmap_batch *batch = at->batch;
    const struct index_place *first = &batch->places[i];
    uint64_t last = first->offset + first->frame_size;
    size_t next = i + 1;
    for (; next < end; next++) {
        const struct index_place *place = &batch->places[next];
        if (batch->shards[next] || place->shard_index != first->shard_index ||
            place->offset < first->offset || place->offset > last + READ_GAP ||
            place->offset + place->frame_size - first->offset > READ_MAX)
            break;
        /* A repeated record lies in what is read already. */
        if (place->offset + place->frame_size > last) last = place->offset + place->frame_size;
    }
    *size = last - first->offset;
    return next;
}

/* Reads and checks the requests from `i` on that one read gets. */
static recmap_status read_near(struct gather *at, size_t i, size_t count, size_t *next,
                               recmap_error *error) {
    recmap_batch *batch = at->batch;
    const struct index_place *first = &batch->places[i];
    uint64_t size;
    *next = near_ones(at, i, count, &size);
    recmap_status status = enter_shard(at, first->shard_index, error);
    if (status != RECMAP_OK) return status;
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    status = open_shard_read(at->shard, bytes, (size_t)size, first->offset, error);
    if (status != RECMAP_OK) fail_at(error, NULL, batch->requests[i].number, RECMAP_NO_OFFSET);
    struct shard_window window = {bytes, first->offset, size, NULL};
    for (size_t r = i; status == RECMAP_OK && r < *next; r++) status = check(at, r, &window, error);
    return status;
}

/* How many requests from `i` on are copied out of a compressed shard together. */
static size_t compressed_ones(const struct gather *at, size_t i, size_t end, uint64_t *size) {
    const struct index_place *places = at->batch->places;
    size_t next = i + 1;
    *size = places[i].frame_size;
    while (next < end && places[next].shard_index == places[i].shard_index &&
           *size + places[next].frame_size <= READ_MAX)
        *size += places[next++].frame_size;
    return next;
}

/* Reads and checks the requests from `i` on that are copied together. */
static recmap_status read_compressed(struct gather *at, size_t i, size_t count, size_t *next,
                                     recmap_error *error) {
    recmap_batch *batch = at->batch;
    uint64_t size;
    *next = compressed_ones(at, i, count, &size);
    recmap_status status = enter_shard(at, batch->places[i].shard_index, error);
    if (status != RECMAP_OK) return status;
    uint8_t *bytes = batch_allocate(batch, (size_t)size);
    if (!bytes) return fail_memory(error);
    status = open_shard_read_frames(at->shard, bytes, &batch->places[i], *next - i, error);
    if (status != RECMAP_OK) fail_at(error, NULL, batch->requests[i].number, RECMAP_NO_OFFSET);
    for (size_t r = i; status == RECMAP_OK && r < *next; r++) {
        const struct index_place *place = &batch->places[r];
        struct shard_window window = {bytes, place->offset, place->frame_size, NULL};
        status = check(at, r, &window, error);
        bytes += place->frame_size;
    }
    return status;
}

static recmap_status read_some(struct gather *at, size_t i, size_t count, size_t *next,
                               recmap_error *error) {
    uint32_t shard_index = at->batch->places[i].shard_index;
    const struct shard_entry *entry = &index_shards(at->dataset->index)[shard_index].entry;
    return entry->compression == COMPRESSION_NONE ? read_near(at, i, count, next, error)
                                                  : read_compressed(at, i, count, next, error);
}

/* Whether a stage has a record at this turn, and which. */
static bool is_due(size_t *i, size_t turn, size_t lag, size_t count) {
    *i = turn - lag;
    return turn >= lag && *i < count;
}

static recmap_status turn_stages(struct gather *at, size_t turn, size_t count,
                                 recmap_error *error) {
    recmap_batch *batch = at->batch;
    struct index_file *index = at->dataset->index;
    recmap_status status = RECMAP_OK;
    size_t i;
    if (is_due(&i, turn, 0, count)) index_prefetch(index, batch->requests[i].number);
    if (is_due(&i, turn, LAG_OFFSET, count)) index_prefetch_bits(index, batch->requests[i].number);
    if (is_due(&i, turn, LAG_LOCATE, count)) status = locate_some(at, i, count, error);
    if (status == RECMAP_OK && is_due(&i, turn, LAG_FETCH, count)) fetch(at, i);
    if (status == RECMAP_OK && is_due(&i, turn, LAG_CHECK, count) && batch->shards[i]) {
        struct shard_window window = open_shard_window(batch->shards[i]);
        status = check(at, i, &window, error);
    }
    return status;
}

static recmap_status visit(struct gather *at, size_t count, recmap_error *error) {
    for (size_t turn = 0; turn < count + LAG_CHECK; turn++) {
        recmap_status status = turn_stages(at, turn, count, error);
        if (status != RECMAP_OK) return status;
    }
    for (size_t i = 0; i < count;) {
        size_t next = i + 1;
        recmap_status status = at->batch->shards[i] ? RECMAP_OK
                                                    : read_some(at, i, count, &next, error);
        if (status != RECMAP_OK) return status;
        i = next;
    }
    return RECMAP_OK;
}

/* Records are fetched ahead of others that come before them, and read together with their
 * neighbours, so what failed first need not be the first that is bad: that one is looked for one by
 * one, which costs something only now that all is lost. */
static recmap_status fail_first(recmap_batch *batch, recmap_dataset *dataset, size_t count,
                                recmap_status failed, recmap_error *error) {
    if (failed == RECMAP_NO_MEMORY) return failed;
    for (size_t i = 0; i < count; i++) {
        recmap_record record;
        recmap_status status =
            recmap_dataset_get(&record, dataset, batch->requests[i].number, error);
        if (status != RECMAP_OK) return status;
        recmap_record_release(&record);
    }
    return failed;
}

static recmap_status gather(recmap_batch *batch, recmap_dataset *dataset, size_t count,
                            recmap_error *error) {
    struct gather at = {.batch = batch, .dataset = dataset};
    recmap_status status = visit(&at, count, error);
    leave_shard(&at);
    batch->count = count;
    if (status == RECMAP_OK) return RECMAP_OK;
    recmap_batch_clear(batch);
    return fail_first(batch, dataset, count, status, error);
}

recmap_status recmap_dataset_gather(recmap_batch *batch, recmap_dataset *dataset,
                                    const uint64_t *numbers, size_t count, recmap_error *error) {
    recmap_batch_clear(batch);
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= dataset->info.record_count)
            return dataset_check_range(dataset, numbers[i], 1, error);
        batch->requests[i] = (struct batch_request){numbers[i], i};
    }
    batch_sort_requests(batch, count);
    return gather(batch, dataset, count, error);
}

recmap_status recmap_dataset_gather_range(recmap_batch *batch, recmap_dataset *dataset,
                                          uint64_t first, size_t count, recmap_error *error) {
    recmap_batch_clear(batch);
    recmap_status status = dataset_check_range(dataset, first, count, error);
    if (status != RECMAP_OK) return status;
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = 0; i < count; i++) batch->requests[i] = (struct batch_request){first + i, i};
    return gather(batch, dataset, count, error);
}
