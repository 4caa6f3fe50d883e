#include "dataset/batch/direct_reader.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/memory/memory.h"
#include "base/os/activity.h"
#include "base/os/ring.h"
#include "dataset/batch/batch.h"
#include "dataset/open/dataset.h"
#include "dataset/open/direct_support.h"

enum {
    SUBMITTED_AT_ONCE = 16,   /* reads per system call, and shards pinned for it */
    GAP = 4096,               /* records this close to each other share a read */
    TOTAL_SIZE_MAX = 1 << 20, /* of a read shared by several records */
    ALIGNMENT_MAX = 4096,
};

#define RECORD_MAX ((uint64_t)1 << 30)

struct direct_reader {
    recmap_dataset *dataset;
    struct read_ring *ring;
    unsigned depth;
    unsigned in_flight;
    size_t open_count;             /* reads of started batches that are not done */
    recmap_batch *oldest, *newest; /* of the batches with reads that are not submitted */
    bool is_stopped;
};

struct direct_reader *direct_reader_create(recmap_dataset *dataset, unsigned depth) {
    struct direct_reader *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return NULL;
    *fresh = (struct direct_reader){.dataset = dataset, .depth = depth, .ring = ring_create(depth)};
    if (fresh->ring) return fresh;
    free(fresh);
    return NULL;
}

void direct_reader_destroy(struct direct_reader *reader) {
    if (!reader) return;
    ring_destroy(reader->ring);
    free(reader);
}

static bool locate(recmap_batch *batch, const recmap_dataset *dataset, size_t count) {
    enum { AHEAD = 16 };
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) dataset_prefetch_place(dataset, batch->requests[i + AHEAD].number);
        if (dataset_find_place(&batch->places[i], dataset, batch->requests[i].number, NULL) !=
            RECMAP_OK)
            return false;
        if (batch->places[i].frame_size > RECORD_MAX) return false;
    }
    return true;
}

/* Returns the end of the requests from `first` on that share a read, and in `end` the end of the
 * bytes that the read needs. A forged index can give a later record an earlier place; that record
 * starts a read of its own. */
static size_t merge_requests(const recmap_batch *batch, size_t first, size_t count, uint64_t *end) {
    const struct index_place *begin = &batch->places[first];
    *end = begin->offset + begin->frame_size;
    size_t next = first + 1;
    for (; next < count; next++) {
        const struct index_place *place = &batch->places[next];
        uint64_t place_end = place->offset + place->frame_size;
        if (place->shard_index != begin->shard_index || place->offset < begin->offset ||
            place->offset > *end + GAP)
            break;
        if (place_end <= *end) continue; /* a repeated record */
        if (place_end - begin->offset > TOTAL_SIZE_MAX) break;
        *end = place_end;
    }
    return next;
}

/* A read whose bounds are multiples of the file system's alignment. */
static struct batch_read align_read(recmap_batch *batch, size_t first, size_t end,
                                    uint64_t bytes_end, uint32_t alignment) {
    uint64_t mask = alignment - 1, begin = batch->places[first].offset & ~mask;
    return (struct batch_read){.batch = batch,
                               .first = first,
                               .end = end,
                               .offset = begin,
                               .size = (uint32_t)(((bytes_end + mask) & ~mask) - begin),
                               .needed = (uint32_t)(bytes_end - begin)};
}

/* The first offset from `used` on in the batch's memory where a read may start: a multiple of the
 * alignment, and for reads up to a page in size one that keeps the read within a page. */
static size_t place_read(const struct batch_read *read, uint32_t alignment, size_t used) {
    size_t step = alignment;
    while (step < read->size && step < ALIGNMENT_MAX) step *= 2;
    return (used + step - 1) & ~(step - 1);
}

/* Plans the reads of a batch and where their bytes go. */
static bool plan(recmap_batch *batch, size_t *memory_size, recmap_dataset *dataset, size_t count) {
    uint32_t alignment = 0, shard_index = 0;
    *memory_size = batch->read_count = 0;
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t bytes_end;
        const struct index_place *place = &batch->places[i];
        if ((!i || place->shard_index != shard_index) &&
            !dataset_find_alignment(&alignment, dataset, place->shard_index))
            return false;
        shard_index = place->shard_index;
        next = merge_requests(batch, i, count, &bytes_end);
        if (!array_reserve(&batch->reads, &batch->reads_capacity, batch->read_count + 1,
                           sizeof *batch->reads))
            return false;
        struct batch_read *read = &batch->reads[batch->read_count++];
        *read = align_read(batch, i, next, bytes_end, alignment);
        read->memory_offset = place_read(read, alignment, *memory_size);
        /* The sizes come from the index, which may be forged: their sum must not wrap around. */
        if (read->memory_offset > SIZE_MAX / 2) return false;
        *memory_size = read->memory_offset + read->size;
    }
    return true;
}

/* Makes the batch's memory large enough. Existing memory is reused unless it is far too large. */
static bool ensure_memory(recmap_batch *batch, size_t size) {
    enum { TOO_LARGE = 4 };
    size_t needed = pages_size(size);
    if (batch->memory_size >= needed && batch->memory_size / TOO_LARGE <= needed) return true;
    free(batch->memory);
    batch->memory = pages_allocate(size);
    batch->memory_size = batch->memory ? needed : 0;
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
    return batch_sort_requests(batch, count, NULL) == RECMAP_OK && locate(batch, dataset, count) &&
           plan(batch, &memory_size, dataset, count) && ensure_memory(batch, memory_size);
}

/* Cancels the reads of a batch that were not submitted. */
static void cancel_reads(struct direct_reader *reader, recmap_batch *batch) {
    reader->open_count -= batch->read_count - batch->submitted_count;
    batch->read_count = batch->submitted_count;
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

/* Handles the result of one read. Its records are checked now, while the bytes are in the cache. */
static void end_read(struct direct_reader *reader, struct batch_read *read, int32_t result) {
    recmap_batch *batch = read->batch;
    read->is_done = true;
    batch->done_count++;
    reader->open_count--;
    reader->in_flight--;
    if (!batch->has_failed && !check_read(read, reader->dataset, result)) batch->has_failed = true;
}

/* The next read to submit, or NULL. Batches whose reads are all submitted leave the list here.
 *
 * A batch must have left the list before it is finished, because its memory may be reused then.
 * This holds because reads are submitted in the order of the list. When the last read of a batch is
 * done, either a read of a later batch is in flight, so this function has already passed the batch,
 * or nothing is in flight; then keep_busy calls this function, which removes the batch. */
static struct batch_read *next_read(struct direct_reader *reader) {
    while (reader->oldest && reader->oldest->submitted_count == reader->oldest->read_count)
        reader->oldest = reader->oldest->next;
    return reader->oldest ? &reader->oldest->reads[reader->oldest->submitted_count] : NULL;
}

/* Submits some reads with one system call. Their shards are pinned until the kernel has its own
 * references to the files. Reads that the kernel refuses count as failed. */
static void submit_reads(struct direct_reader *reader) {
    struct batch_read *submitted[SUBMITTED_AT_ONCE], *read;
    struct open_shard *pins[SUBMITTED_AT_ONCE];
    unsigned count = 0;
    while (count < SUBMITTED_AT_ONCE && reader->in_flight < reader->depth &&
           (read = next_read(reader))) {
        uint32_t alignment, shard_index = read->batch->places[read->first].shard_index;
        if (dataset_pin_shard(&pins[count], reader->dataset, shard_index, NULL) != RECMAP_OK) {
            cancel_reads(reader, read->batch);
            continue;
        }
        ring_add(reader->ring, open_shard_direct(&alignment, pins[count]),
                 read->batch->memory + read->memory_offset, read->size, read->offset, read);
        submitted[count++] = read;
        read->batch->submitted_count++;
        reader->in_flight++;
    }
    unsigned refused = ring_submit(reader->ring);
    if (refused) direct_reader_stop(reader);
    /* The kernel takes reads in order, so the last ones are those that it refused. */
    for (unsigned i = count - refused; i < count; i++) end_read(reader, submitted[i], -1);
    for (unsigned i = 0; i < count; i++) shard_cache_unpin(pins[i]);
}

/* Refills the ring. Does nothing until a quarter of it is free, so that not every read costs a
 * system call. */
static void keep_busy(struct direct_reader *reader) {
    unsigned refill_limit = reader->depth - reader->depth / 4;
    if (reader->in_flight > refill_limit) return;
    while (!reader->is_stopped && reader->in_flight < reader->depth && next_read(reader))
        submit_reads(reader);
}

/* Notes the oldest read of the batch that is not completed, so that other threads can tell what
 * this one waits for. Its shard need not be open any more, so the name is made again. */
static void note_pending(const struct direct_reader *reader, recmap_batch *batch) {
    size_t i = batch->first_open;
    while (i < batch->read_count && batch->reads[i].is_done) i++;
    batch->first_open = i;
    if (i == batch->read_count) return; /* the kernel refused the last ones */
    const struct batch_read *read = &batch->reads[i];
    const struct index_place *place = &batch->places[read->first];
    const struct shard_entry *entry = &reader->dataset->shard_table[place->shard_index].entry;
    char *path = shard_folder_find_path(shard_cache_folder(reader->dataset->shards), entry->path);
    if (!path) return;
    activity_begin_read(path, place->offset, read->offset + read->needed - place->offset);
    free(path);
}

/* Takes a completed read, and waits for one if necessary. */
static void take_read(void **tag, int32_t *result, const struct direct_reader *reader,
                      recmap_batch *batch) {
    if (ring_take(tag, result, reader->ring, false)) return;
    note_pending(reader, batch);
    (void)ring_take(tag, result, reader->ring, true);
    activity_end_read();
}

/* Ends the reads that are completed, at least one. */
static void end_some(struct direct_reader *reader, recmap_batch *batch) {
    void *tag;
    int32_t result;
    take_read(&tag, &result, reader, batch);
    do {
        end_read(reader, tag, result);
        keep_busy(reader);
    } while (ring_take(&tag, &result, reader->ring, false));
}

bool direct_reader_start(struct direct_reader *reader, recmap_batch *batch, const uint64_t *numbers,
                         size_t count) {
    recmap_batch_clear(batch);
    if (reader->is_stopped || !prepare(batch, reader->dataset, numbers, count)) return false;
    batch->submitted_count = batch->done_count = batch->first_open = 0;
    batch->request_count = count;
    batch->has_failed = false;
    batch->next = NULL;
    if (next_read(reader)) reader->newest->next = batch;
    else reader->oldest = batch;
    reader->newest = batch;
    reader->open_count += batch->read_count;
    keep_busy(reader);
    return true;
}

bool direct_reader_wants_more(const struct direct_reader *reader, const recmap_batch *batch) {
    if (reader->is_stopped) return false;
    return reader->open_count - (batch->read_count - batch->done_count) < reader->depth;
}

bool direct_reader_finish(struct direct_reader *reader, recmap_batch *batch) {
    while (batch->done_count < batch->read_count) {
        keep_busy(reader);
        if (reader->in_flight) end_some(reader, batch);
    }
    assert(reader->oldest != batch); /* see next_read */
    batch->count = batch->request_count;
    if (batch->has_failed) recmap_batch_clear(batch);
    return !batch->has_failed;
}

void direct_reader_stop(struct direct_reader *reader) {
    reader->is_stopped = true;
    for (recmap_batch *batch = reader->oldest; batch; batch = batch->next)
        cancel_reads(reader, batch);
    reader->oldest = NULL;
}
