#include "loader/feed/loader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/rows.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "dataset/open/dataset.h"
#include "dataset/open/direct_support.h"
#include "loader/slices/rows.h"
#include "parse/plan/plan.h"

recmap_status loader_check_process(const recmap_loader *loader, recmap_error *error) {
    if (!loader->owner || loader->owner == process_id()) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "the loader belongs to process %ld; this process was forked from it", (long)loader->owner);
    fail_advise(error, "create a loader in each process, after fork, and load the saved state");
    return RECMAP_INVALID;
}

bool loader_has_pictures(const recmap_loader *loader) {
    return loader->options.parser && loader->options.parser->image_count;
}

uint64_t loader_decoded_ahead_max(const recmap_loader *loader) {
    const uint64_t size = loader->pixels_size_max;
    const uint64_t count = size ? PIXELS_AHEAD / size : 0;
    return count < DECODED_AHEAD_MIN ? DECODED_AHEAD_MIN : count;
}

/* Keeps no more columns than can be in use. The oldest ones are used first, because the caller may
 * still look at the others: then these would need other memory. */
static void add_spare_columns(recmap_loader *loader, recmap_columns *columns) {
    const size_t limit = (size_t)min_u64(loader_decoded_ahead_max(loader), loader->slot_count);
    while (loader->spare_columns_count && loader->spare_columns_count >= limit)
        recmap_columns_destroy(loader_take_spare_columns(loader));
    loader->spare_columns[loader->spare_columns_count++] = columns;
}

recmap_columns *loader_take_spare_columns(recmap_loader *loader) {
    if (!loader->spare_columns_count) return NULL;
    recmap_columns *oldest = loader->spare_columns[0];
    memmove(loader->spare_columns, loader->spare_columns + 1,
            --loader->spare_columns_count * sizeof *loader->spare_columns);
    return oldest;
}

void loader_add_spare(recmap_loader *loader, recmap_batch *batch) {
    if (!batch) return;
    if (batch->columns && loader_has_pictures(loader)) {
        add_spare_columns(loader, batch->columns);
        batch->columns = NULL;
    }
    if (loader->spare_count < loader->spare_capacity) loader->spares[loader->spare_count++] = batch;
    else recmap_batch_destroy(batch);
}

void loader_clear_slot(recmap_loader *loader, struct loader_slot *slot) {
    if (slot->result.batch) recmap_batch_clear(slot->result.batch);
    loader_add_spare(loader, slot->result.batch);
    filled_batch_clear(&slot->result);
    free(slot->error);
    *slot = (struct loader_slot){.is_ready = false};
}

/* Rejects options that are out of range. */
static recmap_status check_options(const recmap_loader_options *options, recmap_error *error) {
    if (options->version != RECMAP_LOADER_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_loader_options has version %u, expected %d",
                    options->version, RECMAP_LOADER_OPTIONS_VERSION);
    if (options->rank >= options->world_size)
        return fail(error, RECMAP_INVALID, "rank %u is out of range: the world size is %u",
                    options->rank, options->world_size);
    if (options->on_bad_record > RECMAP_ON_BAD_RECORD_SUBSTITUTE)
        return fail(error, RECMAP_INVALID, "invalid policy for bad records: %d",
                    (int)options->on_bad_record);
    if (options->readahead > RECMAP_READAHEAD_ON)
        return fail(error, RECMAP_INVALID, "invalid readahead mode: %d", (int)options->readahead);
    if (options->warm > RECMAP_WARM_AUTO)
        return fail(error, RECMAP_INVALID, "invalid mode of warming: %d", (int)options->warm);
    if (options->thread_count > RECMAP_LOADER_THREADS_MAX)
        return fail(error, RECMAP_INVALID, "too many threads: %u, the maximum is %d",
                    options->thread_count, RECMAP_LOADER_THREADS_MAX);
    if (options->batches_ahead > RECMAP_LOADER_BATCHES_AHEAD_MAX)
        return fail(error, RECMAP_INVALID, "too many batches ahead: %u, the maximum is %d",
                    options->batches_ahead, RECMAP_LOADER_BATCHES_AHEAD_MAX);
    if (!options->allocator.allocate != !options->allocator.release)
        return fail(error, RECMAP_INVALID, "an allocator needs both allocate and release");
    return RECMAP_OK;
}

recmap_status loader_check_order(const recmap_dataset *dataset, const recmap_order *order,
                                 const recmap_parser *parser, recmap_error *error) {
    if (recmap_order_row_width(order)) return rows_check(dataset, order, parser, error);
    uint64_t limit = recmap_order_number_limit(order), have = recmap_dataset_count(dataset);
    if (limit <= have) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "the order covers %" PRIu64 " record%s, but the data set has %" PRIu64, limit,
         plural(limit), have);
    fail_advise(error, "create the order with recmap_dataset_count(dataset) records");
    return RECMAP_INVALID;
}

/* The draw order says what is at each position of the loader's order, so both have the same. */
static recmap_status check_draw_order(const recmap_order *order, const recmap_order *draw_order,
                                      recmap_error *error) {
    if (!draw_order) return RECMAP_OK;
    uint64_t count = recmap_order_count(order), draw_count = recmap_order_count(draw_order);
    if (recmap_order_row_width(draw_order))
        return fail(error, RECMAP_INVALID, "the order of the draws gives rows, not records");
    if (count == draw_count) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "the order of the draws has %" PRIu64 " position%s, but the loader's has %" PRIu64,
                draw_count, plural(draw_count), count);
}

/* The default of batches_ahead: some for each thread, but at least RECORDS_AHEAD records. */
static unsigned default_batches_ahead(const recmap_loader_options *options, unsigned threads) {
    enum { BATCHES_MIN = 4, BATCHES_PER_THREAD = 2, RECORDS_AHEAD = 1024 };
    uint64_t ahead = (uint64_t)threads * BATCHES_PER_THREAD;
    uint64_t min = options->batch_size ? RECORDS_AHEAD / options->batch_size : 0;
    if (min < BATCHES_MIN) min = BATCHES_MIN;
    return (unsigned)(ahead < min ? min : ahead);
}

/* Copies the options and replaces zeros with defaults: a thread for each core, and batches ahead.
 */
static void set_options(recmap_loader *loader, const recmap_loader_options *options) {
    loader->options = *options;
    if (options->parser) recmap_parser_retain(options->parser);
    if (options->draw_order) recmap_order_retain(options->draw_order);
    if (!options->batches_ahead_epoch_limit) loader->options.batches_ahead_epoch_limit = UINT64_MAX;
    if (!options->thread_count)
        loader->options.thread_count = (unsigned)min_u64(core_count(), RECMAP_LOADER_THREADS_MAX);
    if (!options->batches_ahead)
        loader->options.batches_ahead =
            default_batches_ahead(options, loader->options.thread_count);
    loader->deal = (recmap_deal_options)RECMAP_DEAL_OPTIONS_INIT;
    loader->deal.world_size = options->world_size;
    loader->deal.batch_size = options->batch_size;
    loader->deal.last = options->last;
}

static recmap_status allocate(recmap_loader *loader, recmap_error *error) {
    loader->slot_count = loader->options.batches_ahead;
    loader->spare_capacity = loader->slot_count + loader->options.thread_count + 1;
    loader->slots = calloc(loader->slot_count, sizeof *loader->slots);
    loader->spares = calloc(loader->spare_capacity, sizeof *loader->spares);
    loader->spare_columns = calloc(loader->slot_count + 1, sizeof *loader->spare_columns);
    loader->activities = calloc(loader->options.thread_count, sizeof *loader->activities);
    if (!loader->slots || !loader->spares || !loader->spare_columns || !loader->activities)
        return fail_memory(error);
    for (unsigned i = 0; i < loader->options.thread_count; i++)
        activity_init(&loader->activities[i]);
    RETURN_IF_FAILED(recmap_order_describe(&loader->order_text, loader->order, error));
    return epoch_cursor_init(&loader->cursor, loader->order, 0, 0, &loader->deal, error);
}

/* Workers start with the first batch, not here, so that a loader can be created before fork. */
recmap_status recmap_loader_create(recmap_loader **loader, recmap_dataset *dataset,
                                   recmap_order *order, const recmap_loader_options *options,
                                   recmap_error *error) {
    static const recmap_loader_options defaults = RECMAP_LOADER_OPTIONS_INIT;
    if (!options) options = &defaults;
    RETURN_IF_FAILED(check_options(options, error));
    RETURN_IF_FAILED(loader_check_order(dataset, order, options->parser, error));
    RETURN_IF_FAILED(check_draw_order(order, options->draw_order, error));
    recmap_loader *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->dataset = dataset;
    fresh->order = recmap_order_retain(order);
    pthread_mutex_init(&fresh->lock, NULL);
    pthread_cond_init(&fresh->changed_work, NULL);
    condition_init(&fresh->changed_results);
    set_options(fresh, options);
    readahead_init(&fresh->readahead, dataset, order, options,
                   dataset->access == RECMAP_ACCESS_MAP);
    recmap_status status = allocate(fresh, error);
    if (status == RECMAP_OK) {
        readahead_restart(&fresh->readahead, &fresh->cursor);
        *loader = fresh;
    } else {
        recmap_loader_destroy(fresh);
    }
    return status;
}

static void stop_workers(recmap_loader *loader) {
    loader_warm_stop(loader);
    pthread_mutex_lock(&loader->lock);
    loader->is_closing = true;
    pthread_cond_broadcast(&loader->changed_work);
    pthread_mutex_unlock(&loader->lock);
    workers_join(&loader->workers);
    atomic_store(&loader->activity_count, 0);
    loader_discard_open(loader);
    loader->is_closing = false;
}

/* The batch that a worker was filling may have been interrupted, so all that were filled ahead are
 * discarded. */
recmap_status recmap_loader_stop(recmap_loader *loader, recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    stop_workers(loader);
    loader->owner = 0;
    return loader_go_to(loader, loader->epoch, loader->position, error);
}

void recmap_loader_destroy(recmap_loader *loader) {
    /* In a forked child nothing can be freed: the lock may be held by a thread that does not exist
     * here, and batches may be half filled. */
    if (!loader || loader_check_process(loader, NULL) != RECMAP_OK) return;
    stop_workers(loader);
    for (size_t i = 0; loader->slots && i < loader->slot_count; i++) {
        recmap_batch_destroy(loader->slots[i].result.batch);
        loader->slots[i].result.batch = NULL;
        loader_clear_slot(loader, &loader->slots[i]);
    }
    for (size_t i = 0; i < loader->spare_count; i++) recmap_batch_destroy(loader->spares[i]);
    recmap_batch_destroy(loader->returned);
    pthread_cond_destroy(&loader->changed_results);
    pthread_cond_destroy(&loader->changed_work);
    pthread_mutex_destroy(&loader->lock);
    recmap_text_deinit(&loader->order_text);
    recmap_order_release(loader->order);
    recmap_text_deinit(&loader->old.order_text);
    recmap_order_release(loader->old.order);
    for (size_t i = 0; i < loader->retired_count; i++) recmap_order_release(loader->retired[i]);
    free(loader->retired);
    recmap_parser_release(loader->options.parser);
    recmap_order_release(loader->options.draw_order);
    free(loader->skipped);
    for (size_t i = 0; i < loader->spare_columns_count; i++)
        recmap_columns_destroy(loader->spare_columns[i]);
    for (unsigned i = 0; loader->activities && i < loader->options.thread_count; i++)
        activity_deinit(&loader->activities[i]);
    free(loader->activities);
    free(loader->spare_columns);
    free(loader->spares);
    free(loader->slots);
    free(loader);
}

/* How many reads each worker keeps in flight: enough to keep a device busy. That is a few
 * megabytes, but for small records not much more than the length of the device's queue, because
 * further reads would only wait for the queue. On a virtual disk, with records of 2 KB, 128 reads
 * in total were a tenth faster than 64, and 512 were slower. */
static unsigned direct_depth(const recmap_loader *loader) {
    enum { BYTES = 4 << 20, MIN = 32, ENOUGH = 128, MAX_PER_THREAD = 64, MIN_PER_THREAD = 4 };
    const recmap_dataset_info *info = recmap_dataset_get_info(loader->dataset);
    uint64_t threads = loader->options.thread_count, max = threads * MAX_PER_THREAD;
    uint64_t record_size = info->record_count ? info->byte_count / info->record_count + 1 : 1;
    uint64_t depth = min_u64(BYTES / record_size, max < ENOUGH ? ENOUGH : max);
    if (depth < MIN) depth = MIN;
    depth /= threads;
    return depth < MIN_PER_THREAD ? MIN_PER_THREAD : (unsigned)depth;
}

/* Chooses between reading past the page cache (io_uring) and asking the kernel for records ahead of
 * use. With RECMAP_READAHEAD_OFF neither happens. */
static void choose_reading(recmap_loader *loader) {
    if (loader->options.readahead == RECMAP_READAHEAD_OFF ||
        recmap_order_row_width(loader->order) || !dataset_supports_direct(loader->dataset))
        return;
    pthread_mutex_lock(&loader->lock);
    loader->direct_depth = direct_depth(loader);
    loader->readahead.mode = RECMAP_READAHEAD_OFF;
    loader->readahead.is_cold = false;
    pthread_mutex_unlock(&loader->lock);
}

static recmap_status start_workers(recmap_loader *loader, recmap_error *error) {
    if (loader->owner) return RECMAP_OK;
    choose_reading(loader);
    RETURN_IF_FAILED(
        workers_start(&loader->workers, loader->options.thread_count, loader_work, loader, error));
    pthread_mutex_lock(&loader->lock);
    loader->statistics.thread_count = loader->workers.count;
    pthread_mutex_unlock(&loader->lock);
    loader->owner = process_id();
    return RECMAP_OK;
}

/* Waits for the slot that is taken next. It is not ready if `until` passed first (NULL: no limit).
 */
static struct loader_slot *wait_for_slot(recmap_loader *loader, const struct timespec *until) {
    struct loader_slot *slot = &loader->slots[loader->taken % loader->slot_count];
    if (slot->is_ready) return slot;
    loader->wanted = loader->taken + 1;
    if (epoch_cursor_epoch(&loader->cursor) >= loader->options.batches_ahead_epoch_limit)
        pthread_cond_signal(&loader->changed_work);
    loader->is_awaited = true;
    loader->awaited_since_ns = clock_ns();
    int over = 0;
    while (!slot->is_ready && !over)
        over = until ? pthread_cond_timedwait(&loader->changed_results, &loader->lock, until)
                     : pthread_cond_wait(&loader->changed_results, &loader->lock);
    loader->is_awaited = false;
    loader->statistics.caller_wait_ns += clock_ns() - loader->awaited_since_ns;
    return slot;
}

static recmap_status raise(const struct loader_slot *slot, recmap_error *error) {
    if (!slot->error) return fail_memory(error);
    if (error) *error = *slot->error;
    return slot->status;
}

/* Keeps the list of skipped records. Without memory for the list they are only counted. */
static void keep_skipped(recmap_loader *loader, const struct filled_batch *result) {
    loader->statistics.skipped_count += result->skipped_count;
    for (size_t i = 0; i < result->skipped_count; i++) {
        if (loader->skipped_count == RECMAP_LOADER_SKIPPED_MAX) return;
        if (!array_reserve(&loader->skipped, &loader->skipped_capacity, loader->skipped_count + 1,
                           sizeof *loader->skipped))
            return;
        loader->skipped[loader->skipped_count++] = result->skipped[i];
    }
}

static void count_taken(recmap_loader *loader, const struct filled_batch *result) {
    loader->statistics.batches_ready--;
    if (!result->batch) return;
    loader->statistics.batch_count++;
    loader->statistics.record_count += recmap_batch_count(result->batch);
    loader->statistics.byte_count += result->byte_count;
    if (result->skipped_count) keep_skipped(loader, result);
}

/* Wakes a waiting worker whenever about an eighth of the slots has become free: with many slots,
 * waking it for each one costs too much. A waiting worker is always woken: it waits only while no
 * slot is free, so the number of free slots reaches a multiple of `interval` afterwards; or past
 * the limit of epochs, where wait_for_slot wakes it. */
static void wake_worker(recmap_loader *loader) {
    enum { WAKES_PER_RING = 8 };
    uint64_t interval = loader->slot_count / WAKES_PER_RING + 1;
    uint64_t free_count = loader->slot_count - (loader->issued - loader->taken);
    if (free_count % interval == 0) pthread_cond_signal(&loader->changed_work);
}

/* Takes the result in the next slot. The caller holds the lock. */
static recmap_status take(recmap_batch **batch, recmap_loader *loader, recmap_error *error) {
    struct loader_slot *slot = wait_for_slot(loader, NULL);
    if (slot->status != RECMAP_OK) {
        loader->must_restart = true;
        return raise(slot, error);
    }
    assert(slot->is_ready && loader->taken < loader->issued);
    count_taken(loader, &slot->result);
    loader->epoch = slot->result.epoch;
    loader->position = slot->result.position;
    *batch = slot->result.batch;
    slot->result.batch = NULL;
    loader_clear_slot(loader, slot);
    loader->taken++;
    if (loader->open) pthread_cond_signal(&loader->changed_work); /* one more job may start */
    wake_worker(loader);
    return RECMAP_OK;
}

/* Makes sure that workers are running and that they fill batches from the loader's position. */
static recmap_status ensure_workers(recmap_loader *loader, recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    if (loader->must_restart)
        RETURN_IF_FAILED(loader_go_to(loader, loader->epoch, loader->position, error));
    RETURN_IF_FAILED(start_workers(loader, error));
    loader_warm(loader);
    return RECMAP_OK;
}

recmap_status recmap_loader_wait(int *is_ready, recmap_loader *loader, uint64_t timeout_ns,
                                 recmap_error *error) {
    RETURN_IF_FAILED(ensure_workers(loader, error));
    struct timespec until = clock_until(timeout_ns);
    pthread_mutex_lock(&loader->lock);
    *is_ready = wait_for_slot(loader, &until)->is_ready;
    pthread_mutex_unlock(&loader->lock);
    return RECMAP_OK;
}

recmap_status recmap_loader_next(recmap_batch **batch, recmap_loader *loader, recmap_error *error) {
    RETURN_IF_FAILED(ensure_workers(loader, error));
    recmap_batch *next = NULL;
    pthread_mutex_lock(&loader->lock);
    loader_add_spare(loader, loader->returned);
    loader->returned = NULL;
    recmap_status status = take(&next, loader, error);
    pthread_mutex_unlock(&loader->lock);
    if (status != RECMAP_OK) return status;
    if (*batch) recmap_batch_clear(*batch);
    loader->returned = *batch;
    *batch = next;
    return RECMAP_OK;
}
