#include "dataset/fetch.h"

#include <stdlib.h>

#include "base/array.h"
#include "dataset/batch.h"
#include "dataset/dataset.h"
#include "os/memory.h"
#include "os/ring.h"

enum {
    HANDED_AT_ONCE = 16,      /* reads with one call, and shards that are pinned for it */
    GAP = 4096,               /* records this near each other come with one read */
    TOTAL_SIZE_MAX = 1 << 20, /* of several records */
    ALIGNMENT_MAX = 4096,
};

#define RECORD_MAX ((uint64_t)1 << 30)

struct fetcher {
    recmap_dataset *dataset;
    struct read_ring *ring;
    unsigned depth;
    unsigned under_way;
    size_t begun_count;            /* reads that were begun and are not done */
    recmap_batch *oldest, *newest; /* of those with reads that are not handed over */
    bool is_stopped;
};

static bool get_alignment(uint32_t *alignment, recmap_dataset *dataset, uint32_t shard_index) {
    struct open_shard *shard;
    if (shard_cache_pin(&shard, dataset->shards, shard_index, NULL) != RECMAP_OK) return false;
    int fd = open_shard_direct(alignment, shard);
    shard_cache_unpin(shard);
    return fd >= 0;
}

/* One shard stands for all: they lie in one file system, most of the time. */
static bool shards_allow(recmap_dataset *dataset) {
    const struct index_shard *shards = index_shards(dataset->index);
    uint32_t alignment;
    for (uint32_t i = 0; i < dataset->info.shard_count; i++)
        if (shards[i].entry.compression == COMPRESSION_NONE && shards[i].entry.record_count)
            return get_alignment(&alignment, dataset, i);
    return false;
}

bool fetch_is_possible(recmap_dataset *dataset) {
    if (dataset->access != RECMAP_ACCESS_DIRECT) return false;
    struct read_ring *tried = ring_create(1);
    ring_destroy(tried);
    return tried && shards_allow(dataset);
}

struct fetcher *fetcher_create(recmap_dataset *dataset, unsigned depth) {
    struct fetcher *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    *made = (struct fetcher){.dataset = dataset, .depth = depth, .ring = ring_create(depth)};
    if (made->ring) return made;
    free(made);
    return NULL;
}

void fetcher_destroy(struct fetcher *fetcher) {
    if (!fetcher) return;
    ring_destroy(fetcher->ring);
    free(fetcher);
}

static bool locate(recmap_batch *batch, const recmap_dataset *dataset, size_t count) {
    enum { AHEAD = 16 };
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) index_prefetch(dataset->index, batch->requests[i + AHEAD].number);
        if (index_locate(&batch->places[i], dataset->index, batch->requests[i].number, NULL) !=
            RECMAP_OK)
            return false;
        if (batch->places[i].frame_size > RECORD_MAX) return false;
    }
    return true;
}

/* The end of the requests from `first` on that one read gets; the read needs the bytes up to `end`.
 * A forged index can give a later record an earlier place: it begins a read of its own. */
static size_t near_ones(const recmap_batch *batch, size_t first, size_t count, uint64_t *end) {
    const struct index_place *begin = &batch->places[first];
    *end = begin->offset + begin->frame_size;
    size_t next = first + 1;
    for (; next < count; next++) {
        const struct index_place *place = &batch->places[next];
        uint64_t place_end = place->offset + place->frame_size;
        if (place->shard_index != begin->shard_index || place->offset < begin->offset ||
            place->offset > *end + GAP)
            break;
        if (place_end <= *end) continue; /* once more */
        if (place_end - begin->offset > TOTAL_SIZE_MAX) break;
        *end = place_end;
    }
    return next;
}

/* A read that begins and ends where the file system wants it. */
static struct batch_read read_of(recmap_batch *batch, size_t first, size_t end, uint64_t bytes_end,
                                 uint32_t alignment) {
    uint64_t mask = alignment - 1, begin = batch->places[first].offset & ~mask;
    return (struct batch_read){.batch = batch,
                               .first = first,
                               .end = end,
                               .offset = begin,
                               .size = (uint32_t)(((bytes_end + mask) & ~mask) - begin),
                               .needed = (uint32_t)(bytes_end - begin)};
}

/* Where in the batch's memory a read may begin, at `used` or behind: at a multiple of its size or
 * of a page's, so that small ones do not lie in two pages. */
static size_t place_read(const struct batch_read *read, uint32_t alignment, size_t used) {
    size_t step = alignment;
    while (step < read->size && step < ALIGNMENT_MAX) step *= 2;
    return (used + step - 1) & ~(step - 1);
}

/* Makes the reads of a batch. */
static bool plan(recmap_batch *batch, size_t *memory_size, recmap_dataset *dataset, size_t count) {
    uint32_t alignment = 0, shard_index = 0;
    *memory_size = batch->read_count = 0;
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t bytes_end;
        const struct index_place *place = &batch->places[i];
        if ((!i || place->shard_index != shard_index) &&
            !get_alignment(&alignment, dataset, place->shard_index))
            return false;
        shard_index = place->shard_index;
        next = near_ones(batch, i, count, &bytes_end);
        if (!array_reserve(&batch->reads, &batch->reads_capacity, batch->read_count + 1,
                           sizeof *batch->reads))
            return false;
        struct batch_read *read = &batch->reads[batch->read_count++];
        *read = read_of(batch, i, next, bytes_end, alignment);
        read->memory_offset = place_read(read, alignment, *memory_size);
        if (read->memory_offset > SIZE_MAX / 2) return false;
        *memory_size = read->memory_offset + read->size;
    }
    return true;
}

/* Memory that was used before is used again, unless it is far too large. */
static bool own_memory(recmap_batch *batch, size_t size) {
    enum { TOO_LARGE = 4 };
    size_t taken = pages_size(size);
    if (batch->memory_size >= taken && batch->memory_size / TOO_LARGE <= taken) return true;
    free(batch->memory);
    batch->memory = pages_allocate(size);
    batch->memory_size = batch->memory ? taken : 0;
    return batch->memory != NULL;
}

static bool prepare(recmap_batch *batch, recmap_dataset *dataset, const uint64_t *numbers,
                    size_t count) {
    size_t memory_size;
    if (!count || !batch_reserve(batch, count)) return false;
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= dataset->info.record_count) return false;
        batch->requests[i] = (struct batch_request){numbers[i], i};
    }
    batch_sort_requests(batch, count);
    return locate(batch, dataset, count) && plan(batch, &memory_size, dataset, count) &&
           own_memory(batch, memory_size);
}

/* The reads that are not handed over never will be. */
static void give_up(struct fetcher *fetcher, recmap_batch *batch) {
    fetcher->begun_count -= batch->read_count - batch->handed_count;
    batch->read_count = batch->handed_count;
    batch->has_failed = true;
}

static bool check_read(const struct batch_read *read, const recmap_dataset *dataset,
                       int32_t result) {
    recmap_batch *batch = read->batch;
    if (result < 0 || (uint32_t)result < read->needed) return false;
    struct shard_window window = {batch->memory + read->memory_offset, read->offset, read->needed,
                                  NULL};
    for (size_t i = read->first; i < read->end; i++) {
        const struct index_place *place = &batch->places[i];
        recmap_record *record = &batch->records[batch->requests[i].slot];
        record->pin = NULL;
        if (dataset_check_frame(record, dataset, &window, place, batch->requests[i].number, NULL) !=
            RECMAP_OK)
            return false;
    }
    return true;
}

/* What one read came to: checked while it is still near the processor. */
static void end_read(struct fetcher *fetcher, const struct batch_read *read, int32_t result) {
    recmap_batch *batch = read->batch;
    batch->done_count++;
    fetcher->begun_count--;
    fetcher->under_way--;
    if (!batch->has_failed && !check_read(read, fetcher->dataset, result)) batch->has_failed = true;
}

/* The next read that is to be handed over. Batches without one leave the list, and one that is
 * finished has left it: nothing behind it is handed over before, so that with its last read ended
 * nothing is under way, and keep_busy looks here. */
static struct batch_read *next_read(struct fetcher *fetcher) {
    while (fetcher->oldest && fetcher->oldest->handed_count == fetcher->oldest->read_count)
        fetcher->oldest = fetcher->oldest->next;
    return fetcher->oldest ? &fetcher->oldest->reads[fetcher->oldest->handed_count] : NULL;
}

/* Hands over some reads; their shards are pinned until the kernel has them. */
static void hand_over(struct fetcher *fetcher) {
    struct batch_read *handed[HANDED_AT_ONCE], *read;
    struct open_shard *pins[HANDED_AT_ONCE];
    unsigned count = 0;
    while (count < HANDED_AT_ONCE && fetcher->under_way < fetcher->depth &&
           (read = next_read(fetcher))) {
        uint32_t alignment, shard_index = read->batch->places[read->first].shard_index;
        if (shard_cache_pin(&pins[count], fetcher->dataset->shards, shard_index, NULL) !=
            RECMAP_OK) {
            give_up(fetcher, read->batch);
            continue;
        }
        ring_add(fetcher->ring, open_shard_direct(&alignment, pins[count]),
                 read->batch->memory + read->memory_offset, read->size, read->offset, read);
        handed[count++] = read;
        read->batch->handed_count++;
        fetcher->under_way++;
    }
    unsigned refused = ring_submit(fetcher->ring);
    if (refused) fetcher_stop(fetcher);
    for (unsigned i = count - refused; i < count; i++) end_read(fetcher, handed[i], -1);
    for (unsigned i = 0; i < count; i++) shard_cache_unpin(pins[i]);
}

/* Keeps the ring full, without a call for each single read. */
static void keep_busy(struct fetcher *fetcher) {
    unsigned few = fetcher->depth - fetcher->depth / 4;
    if (fetcher->under_way > few) return;
    while (!fetcher->is_stopped && fetcher->under_way < fetcher->depth && next_read(fetcher))
        hand_over(fetcher);
}

static void end_some(struct fetcher *fetcher) {
    void *tag;
    int32_t result;
    for (bool waits = true; ring_take(&tag, &result, fetcher->ring, waits); waits = false) {
        end_read(fetcher, tag, result);
        keep_busy(fetcher);
    }
}

bool fetcher_begin(struct fetcher *fetcher, recmap_batch *batch, const uint64_t *numbers,
                   size_t count) {
    recmap_batch_clear(batch);
    if (fetcher->is_stopped || !prepare(batch, fetcher->dataset, numbers, count)) return false;
    batch->handed_count = batch->done_count = 0;
    batch->request_count = count;
    batch->has_failed = false;
    batch->next = NULL;
    if (next_read(fetcher)) fetcher->newest->next = batch;
    else fetcher->oldest = batch;
    fetcher->newest = batch;
    fetcher->begun_count += batch->read_count;
    keep_busy(fetcher);
    return true;
}

bool fetcher_wants_more(const struct fetcher *fetcher, const recmap_batch *batch) {
    if (fetcher->is_stopped) return false;
    return fetcher->begun_count - (batch->read_count - batch->done_count) < fetcher->depth;
}

bool fetcher_finish(struct fetcher *fetcher, recmap_batch *batch) {
    while (batch->done_count < batch->read_count) {
        keep_busy(fetcher);
        if (fetcher->under_way) end_some(fetcher);
    }
    batch->count = batch->request_count;
    if (batch->has_failed) recmap_batch_clear(batch);
    return !batch->has_failed;
}

void fetcher_stop(struct fetcher *fetcher) {
    fetcher->is_stopped = true;
    for (recmap_batch *batch = fetcher->oldest; batch; batch = batch->next) give_up(fetcher, batch);
    fetcher->oldest = NULL;
}
