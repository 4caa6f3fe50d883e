/* Filling a batch with several threads. The request is split into parts of consecutive records.
 * Each part is filled by one thread in a batch of its own, as a single thread would fill it, except
 * that ranges of remote objects are requested for all parts before, so that neighbours in different
 * parts share a request. Only
 * values whose place in the whole batch is known are written there at once. Then the parts are
 * merged into the whole batch, in which nothing shows how the request was split. */
#include "dataset/batch/parallel.h"

#include <stdatomic.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/team.h"
#include "base/os/thread.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/overlap.h"
#include "dataset/open/dataset.h"
#include "parse/columns/merge.h"

enum {
    /* Waking a thread takes as long as gathering a hundred records, so fewer than this, or fewer
     * bytes, are left to the calling thread by default. */
    RECORDS_MIN = 1024,
    BYTES_MIN = 1 << 20,
    THREADS_MAX = 256,
    /* There are more parts than threads, so that a thread that starts late, or whose core is busy
     * with something else, leaves parts to the others. */
    PARTS_PER_THREAD = 4,
    PART_RECORDS_MIN = 64,
    /* Waking a thread takes as long as copying this many bytes, so the thread that ends a phase
     * copies no more than that itself. */
    COPY_ALONE_MAX = 256 << 10,
};

enum fill_phase {
    PHASE_READ,  /* each part is gathered and parsed */
    PHASE_MERGE, /* records and values are copied to the whole batch */
    PHASE_BYTES, /* the contents of bytes columns are copied */
    PHASE_COUNT,
};

struct parallel_fill {
    recmap_batch *batch;
    recmap_dataset *dataset;
    const struct fill_request *request;
    size_t thread_count;
    size_t part_count;
    struct interrupt interrupt; /* of the batch; else of the calling thread */
    struct columns_merge columns;
    struct overlap fetched; /* what the parts need of remote objects */
    atomic_bool has_failed;
    atomic_bool is_interrupted;
};

/* Returns true if `count` records are likely to have at least BYTES_MIN bytes in total. */
static bool is_long(const recmap_dataset *dataset, size_t count) {
    const recmap_dataset_info *info = &dataset->info;
    return info->record_count && info->byte_count / info->record_count >= BYTES_MIN / count;
}

/* The number of threads that the batch's setting results in, at most one per record. */
static size_t choose_thread_count(const recmap_batch *batch, const recmap_dataset *dataset,
                                  size_t count) {
    size_t threads = batch->thread_count;
    if (threads == 1 || count < 2) return 1;
    if (threads == 0) {
        if (count < RECORDS_MIN && !is_long(dataset, count)) return 1;
        threads = core_count();
    }
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    return threads < count ? threads : count;
}

static size_t choose_part_count(size_t thread_count, size_t count) {
    size_t parts = count / PART_RECORDS_MIN;
    if (parts > thread_count * PARTS_PER_THREAD) parts = thread_count * PARTS_PER_THREAD;
    return parts > thread_count ? parts : thread_count;
}

static size_t part_begin(const struct parallel_fill *fill, size_t part) {
    size_t count = fill->request->count, rest = count % fill->part_count;
    return count / fill->part_count * part + (part < rest ? part : rest);
}

/* ---- Reading the parts. */

/* The interrupt function of the parts: they stop when the call was interrupted, or when a part has
 * failed. */
static int must_stop(void *context) {
    struct parallel_fill *fill = context;
    return atomic_load_explicit(&fill->is_interrupted, memory_order_relaxed) ||
           atomic_load_explicit(&fill->has_failed, memory_order_relaxed);
}

/* The same on the calling thread, which alone may run the interrupt function of the whole batch. */
static int ask_caller(void *context) {
    struct parallel_fill *fill = context;
    const struct interrupt *interrupt = &fill->interrupt;
    if (must_stop(fill)) return 1;
    if (!interrupt->function || !interrupt->function(interrupt->context)) return 0;
    atomic_store_explicit(&fill->is_interrupted, true, memory_order_relaxed);
    return 1;
}

static void poll_interrupt(void *context) {
    (void)ask_caller(context);
}

/* What one thread asks while it does its part of a phase. */
static struct interrupt part_interrupt(struct parallel_fill *fill, bool is_caller) {
    return (struct interrupt){.function = is_caller ? ask_caller : must_stop,
                              .context = fill,
                              .work_left = INTERRUPT_WORK};
}

static bool read_part(struct parallel_fill *fill, size_t index, bool is_caller) {
    recmap_batch *part = fill->batch->parts[index];
    const struct fill_request *request = fill->request;
    size_t begin = part_begin(fill, index), count = part_begin(fill, index + 1) - begin;
    recmap_batch_set_interrupt(part, is_caller ? ask_caller : must_stop, fill);
    part->fetched = &fill->fetched;
    recmap_status status =
        request->numbers
            ? recmap_dataset_gather(part, fill->dataset, request->numbers + begin, count, NULL)
            : recmap_dataset_read(part, fill->dataset, request->first + begin, count, NULL);
    if (status != RECMAP_OK) return false;
    if (!request->parser) return true;
    columns_set_interrupt(part->columns, &part->interrupt);
    columns_set_draws(part->columns, batch_draws(fill->batch), begin);
    status =
        columns_merge_read(&fill->columns, index, begin, part->records, count, request->mode, NULL);
    columns_set_interrupt(part->columns, NULL);
    columns_set_draws(part->columns, NULL, 0);
    return status == RECMAP_OK;
}

/* ---- Merging the parts. */

/* Sets `size` to the approximate number of bytes that merging will copy. The pins and memory of
 * the records stay with the parts until the whole batch is cleared. */
static bool prepare_merge(uint64_t *size, const struct parallel_fill *fill) {
    *size = 0;
    if (fill->request->parser && !columns_merge_reserve(size, &fill->columns)) return false;
    *size += fill->request->count * sizeof *fill->batch->records;
    return true;
}

/* Returns false if the call was interrupted. */
static bool merge_part(const struct parallel_fill *fill, size_t index,
                       struct interrupt *interrupt) {
    const recmap_batch *part = fill->batch->parts[index];
    recmap_record *records = fill->batch->records + part_begin(fill, index);
    return interrupt_copy(interrupt, records, part->records, part->count * sizeof *part->records) &&
           (!fill->request->parser || columns_merge_copy(&fill->columns, index, interrupt));
}

/* ---- The phases. */

static bool do_phase(struct parallel_fill *fill, enum fill_phase phase, unsigned part,
                     bool is_caller) {
    struct interrupt interrupt = part_interrupt(fill, is_caller);
    switch (phase) {
    case PHASE_READ: return read_part(fill, part, is_caller);
    case PHASE_MERGE: return merge_part(fill, part, &interrupt);
    case PHASE_BYTES:
        return columns_merge_share(&fill->columns, part, fill->part_count, &interrupt);
    case PHASE_COUNT: break;
    }
    return false;
}

static void do_part(void *context, unsigned phase, unsigned part, bool is_caller) {
    struct parallel_fill *fill = context;
    if (!must_stop(fill) && !do_phase(fill, (enum fill_phase)phase, part, is_caller))
        atomic_store_explicit(&fill->has_failed, true, memory_order_relaxed);
}

static unsigned fail_phase(struct parallel_fill *fill) {
    atomic_store(&fill->has_failed, true);
    return PHASE_COUNT;
}

/* Called when all parts are merged. Returns the next phase. */
static unsigned end_merge(struct parallel_fill *fill, struct interrupt *interrupt) {
    uint64_t size;
    if (must_stop(fill)) return fail_phase(fill);
    if (!fill->request->parser) return PHASE_COUNT;
    if (!columns_merge_finish(&size, &fill->columns, interrupt)) return fail_phase(fill);
    if (size > COPY_ALONE_MAX) return PHASE_BYTES;
    if (!columns_merge_share(&fill->columns, 0, 1, interrupt)) return fail_phase(fill);
    return PHASE_COUNT;
}

/* Called when all parts are read. Returns the next phase. */
static unsigned end_read(struct parallel_fill *fill, struct interrupt *interrupt) {
    uint64_t size;
    if (must_stop(fill) || !prepare_merge(&size, fill)) return fail_phase(fill);
    if (size > COPY_ALONE_MAX) return PHASE_MERGE;
    for (size_t i = 0; i < fill->part_count; i++)
        if (!merge_part(fill, i, interrupt)) return fail_phase(fill);
    return end_merge(fill, interrupt);
}

static unsigned end_phase(void *context, unsigned phase, bool is_caller) {
    struct parallel_fill *fill = context;
    struct interrupt interrupt = part_interrupt(fill, is_caller);
    switch ((enum fill_phase)phase) {
    case PHASE_READ: return end_read(fill, &interrupt);
    case PHASE_MERGE: return end_merge(fill, &interrupt);
    case PHASE_BYTES:
    case PHASE_COUNT: break;
    }
    return PHASE_COUNT;
}

/* ---- The whole batch. */

/* The columns of the whole and of all parts. */
static bool start_columns(struct parallel_fill *fill) {
    recmap_batch *batch = fill->batch;
    if (!batch->columns && recmap_columns_create(&batch->columns, NULL) != RECMAP_OK) return false;
    if (!batch_reserve_part_columns(batch, fill->part_count)) return false;
    fill->columns =
        (struct columns_merge){batch->columns, batch->part_columns, fill->part_count, false};
    return columns_merge_start(&fill->columns, fill->request->parser, fill->request->count);
}

/* Ends the part, except for its pins and memory: the records of the whole batch are there. */
static void end_part(recmap_batch *part) {
    recmap_batch_set_interrupt(part, NULL, NULL);
    part->fetched = NULL;
    part->count = 0;
}

static void end_fill(struct parallel_fill *fill, bool has_failed) {
    recmap_batch *batch = fill->batch;
    if (fill->columns.whole) columns_merge_end(&fill->columns, has_failed);
    for (size_t i = 0; i < fill->part_count && i < batch->part_count; i++)
        end_part(batch->parts[i]);
    overlap_deinit(&fill->fetched);
    if (has_failed) {
        recmap_batch_clear(batch);
        return;
    }
    batch->count = fill->request->count;
    batch->is_parsed = fill->request->parser != NULL;
}

/* Returns whether the batch is filled. */
static bool fill_parts(struct parallel_fill *fill) {
    recmap_batch *batch = fill->batch;
    struct team_job job = {.phase_count = PHASE_COUNT,
                           .part_count = (unsigned)fill->part_count,
                           .context = fill,
                           .do_part = do_part,
                           .end_phase = end_phase,
                           .poll = poll_interrupt};
    if (!batch_reserve(batch, fill->request->count) ||
        !batch_reserve_parts(batch, fill->part_count) ||
        (fill->request->parser && !start_columns(fill)))
        return false;
    team_run(&job, (unsigned)fill->thread_count);
    return !atomic_load(&fill->has_failed) && !atomic_load(&fill->is_interrupted);
}

/* Fills the batch on several threads, if that pays. A failure other than an interrupt, or one of a
 * remote store, is not reported here: *is_done is false, and the caller fills the batch again on
 * one thread, which finds the first error in the order of the records. */
recmap_status parallel_fill(bool *is_done, recmap_batch *batch, recmap_dataset *dataset,
                            const struct fill_request *request, recmap_error *error) {
    size_t thread_count = choose_thread_count(batch, dataset, request->count);
    *is_done = false;
    if (thread_count == 1) return RECMAP_OK;
    struct parallel_fill fill = {.batch = batch,
                                 .dataset = dataset,
                                 .request = request,
                                 .thread_count = thread_count,
                                 .interrupt = batch->interrupt.function ? batch->interrupt
                                                                        : *thread_interrupt(),
                                 .part_count = choose_part_count(thread_count, request->count)};
    atomic_init(&fill.has_failed, false);
    atomic_init(&fill.is_interrupted, false);
    recmap_batch_clear(batch);
    recmap_status status = RECMAP_OK;
    if (dataset->is_remote) status = dataset_fetch(&fill.fetched, batch, dataset, request, error);
    *is_done = status == RECMAP_OK && fill_parts(&fill);
    end_fill(&fill, !*is_done);
    if (!atomic_load(&fill.is_interrupted)) return status;
    return fail(error, RECMAP_CANCELLED, "the call was interrupted");
}
