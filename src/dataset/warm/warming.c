#include "dataset/warm/warming.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/memory/page_cache.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "dataset/open/concat.h"
#include "dataset/open/open_shard.h"
#include "dataset/open/shard_warmer.h"
#include "dataset/warm/warm_plan.h"

/* A part of the memory that files can have stays free, for what else is read. It is looked at after
 * so many bytes, or fewer if there is little. */
enum { FREE_SHARE = 16, CHECK_SIZE = 8 << 20, CHECKS = 64, REMOTE_THREADS_MIN = 4 };

struct warming {
    recmap_dataset *dataset;
    struct warming_options options;
    struct worker_group workers;
    atomic_bool is_stopping;
    /* Held while the order runs and the kernel is asked, which takes long in a thread of low
     * priority. */
    pthread_mutex_t plan_lock;
    struct warm_plan plan;
    uint64_t memory_size; /* bytes of files that were warmed in memory */
    uint64_t next_check;  /* of the memory, when so many were warmed */
    uint64_t memory_limit;
    /* Held for moments only: a loader waits for it while it holds its own lock. */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct warming_state state;
    unsigned active_count;
    recmap_error error;
};

/* ---- Limits. The caller holds the lock of the plan. */

static void look_at_memory(struct warming *warming) {
    uint64_t size = page_cache_size(false);
    warming->memory_limit = size - size / FREE_SHARE;
    warming->next_check = warming->memory_size + min_u64(CHECK_SIZE, size / CHECKS);
    uint64_t left = warming->memory_limit > warming->memory_size
                        ? warming->memory_limit - warming->memory_size
                        : 0;
    warming->plan.group_limit = left ? left : 1;
}

/* Limits may shrink, and other processes may need memory, so they are looked at again. */
static bool has_memory(struct warming *warming, uint64_t size) {
    if (warming->memory_size >= warming->next_check) look_at_memory(warming);
    if (warming->memory_size + size <= warming->memory_limit) return true;
    look_at_memory(warming);
    return warming->memory_size + size <= warming->memory_limit;
}

/* ---- State. */

static void end(struct warming *warming, recmap_warm_end reason) {
    pthread_mutex_lock(&warming->lock);
    if (warming->state.report.end == RECMAP_WARM_COMPLETE) warming->state.report.end = reason;
    pthread_mutex_unlock(&warming->lock);
    atomic_store(&warming->is_stopping, true);
}

static void fail_with(struct warming *warming, const recmap_error *error) {
    pthread_mutex_lock(&warming->lock);
    if (warming->state.status == RECMAP_OK && error->status != RECMAP_CANCELLED) {
        warming->state.status = error->status;
        warming->error = *error;
    }
    pthread_mutex_unlock(&warming->lock);
    atomic_store(&warming->is_stopping, true);
}

static void leave_out(struct warming *warming) {
    pthread_mutex_lock(&warming->lock);
    warming->state.left_out = true;
    pthread_mutex_unlock(&warming->lock);
}

/* ---- Work. */

static int must_stop(void *context) {
    struct warming *warming = context;
    return atomic_load_explicit(&warming->is_stopping, memory_order_relaxed);
}

/* Takes the next range. The threads take turns in running the order. */
static bool take_range(struct warm_range *range, struct warming *warming) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    bool is_over = true;
    pthread_mutex_lock(&warming->plan_lock);
    if (!must_stop(warming)) status = warm_plan_next(range, &is_over, &warming->plan, &error);
    pthread_mutex_unlock(&warming->plan_lock);
    if (status != RECMAP_OK) fail_with(warming, &error);
    return status == RECMAP_OK && !is_over;
}

static recmap_status enter(struct shard_warmer *warmer, struct warming *warming,
                           uint32_t shard_index, recmap_error *error) {
    struct open_shard *shard;
    RETURN_IF_FAILED(dataset_pin_shard(&shard, warming->dataset, shard_index, error));
    RETURN_IF_FAILED(shard_warmer_enter(warmer, shard, error));
    if (warmer->place != WARM_NOWHERE || !open_shard_is_remote(shard)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "a remote shard can be warmed only into a cache on the disk");
    fail_file(error, shard->path);
    fail_advise(error, "name a folder on a local disk for it: `--cache FOLDER`");
    return RECMAP_INVALID;
}

/* Returns true if to read a range of the shard that the warmer is at. */
static bool may_read(struct warming *warming, const struct shard_warmer *warmer,
                     const struct warm_range *range) {
    const struct shard_entry *entry = &warming->dataset->shard_table[range->shard_index].entry;
    if (warmer->place != WARM_IN_MEMORY) return true;
    if (warming->options.only_disks && !shard_warmer_is_on_disk(warmer)) {
        leave_out(warming);
        return false;
    }
    pthread_mutex_lock(&warming->plan_lock);
    bool has_room = has_memory(warming, min_u64(range->end - range->begin, entry->file_size));
    pthread_mutex_unlock(&warming->plan_lock);
    if (!has_room) end(warming, RECMAP_WARM_MEMORY);
    return has_room;
}

static void add_counts(struct warming *warming, const struct shard_warmer *warmer,
                       const struct warm_counts *counts) {
    pthread_mutex_lock(&warming->lock);
    warming->state.report.read_size += counts->read_size;
    warming->state.report.present_size += counts->present_size;
    pthread_mutex_unlock(&warming->lock);
    pthread_mutex_lock(&warming->plan_lock);
    if (warmer->place == WARM_IN_MEMORY)
        warming->memory_size += counts->read_size + counts->present_size;
    pthread_mutex_unlock(&warming->plan_lock);
    if (counts->is_full) end(warming, RECMAP_WARM_CACHE);
}

static recmap_status warm_range(struct warming *warming, struct shard_warmer *warmer,
                                const struct warm_range *range, uint32_t *shard_index,
                                recmap_error *error) {
    struct warm_counts counts = {0, 0, false};
    if (!warmer->shard || *shard_index != range->shard_index)
        RETURN_IF_FAILED(enter(warmer, warming, range->shard_index, error));
    *shard_index = range->shard_index;
    if (!may_read(warming, warmer, range)) return RECMAP_OK;
    recmap_status status = shard_warmer_read(&counts, warmer, range->begin, range->end, error);
    add_counts(warming, warmer, &counts);
    return status;
}

static void *work(void *context) {
    struct warming *warming = context;
    struct shard_warmer warmer = SHARD_WARMER_INIT;
    struct warm_range range;
    uint32_t shard_index = 0;
    if (warming->options.is_background) thread_lower_priority();
    recmap_thread_set_interrupt(must_stop, warming);
    while (take_range(&range, warming)) {
        recmap_error error = RECMAP_ERROR_INIT;
        if (warm_range(warming, &warmer, &range, &shard_index, &error) != RECMAP_OK)
            fail_with(warming, &error);
    }
    shard_warmer_deinit(&warmer);
    pthread_mutex_lock(&warming->lock);
    if (--warming->active_count == 0) {
        warming->state.is_over = true;
        pthread_cond_broadcast(&warming->ended);
    }
    pthread_mutex_unlock(&warming->lock);
    return NULL;
}

/* ---- Starting and ending. */

/* A device gives a file fastest if one thread reads it in its order. */
static unsigned count_threads(const struct warming *warming) {
    unsigned asked = warming->options.warm.thread_count, cores = core_count();
    const recmap_dataset *dataset = warming->dataset;
    bool is_plain = !dataset->is_remote;
    for (uint64_t i = 0; is_plain && i < dataset->info.shard_count; i++)
        is_plain = dataset->shard_table[i].entry.compression == COMPRESSION_NONE;
    if (asked) return asked;
    if (is_plain) return 1;
    return cores < REMOTE_THREADS_MIN ? REMOTE_THREADS_MIN : cores;
}

/* The lock is held while threads start, so that none ends before all are counted. */
static recmap_status start_threads(struct warming *warming, recmap_error *error) {
    look_at_memory(warming);
    pthread_mutex_lock(&warming->lock);
    recmap_status status =
        workers_start(&warming->workers, count_threads(warming), work, warming, error);
    warming->active_count = warming->workers.count;
    pthread_mutex_unlock(&warming->lock);
    return status;
}

recmap_status warming_start(struct warming **warming, recmap_dataset *dataset,
                            const struct warming_options *options, recmap_error *error) {
    struct warming *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->dataset = dataset;
    fresh->options = *options;
    pthread_mutex_init(&fresh->plan_lock, NULL);
    pthread_mutex_init(&fresh->lock, NULL);
    condition_init(&fresh->ended);
    recmap_status status = warm_plan_init(&fresh->plan, dataset, &options->warm, error);
    fresh->state.size = status == RECMAP_OK ? warm_plan_size(&fresh->plan) : 0;
    if (status == RECMAP_OK) status = start_threads(fresh, error);
    if (status == RECMAP_OK) *warming = fresh;
    else warming_destroy(fresh);
    return status;
}

bool warming_wait(struct warming *warming, uint64_t timeout_ns) {
    struct timespec until = clock_until(timeout_ns);
    int over = 0;
    pthread_mutex_lock(&warming->lock);
    while (!warming->state.is_over && !over)
        over = pthread_cond_timedwait(&warming->ended, &warming->lock, &until);
    bool is_over = warming->state.is_over;
    pthread_mutex_unlock(&warming->lock);
    return is_over;
}

struct warming_state warming_state(struct warming *warming) {
    pthread_mutex_lock(&warming->lock);
    struct warming_state state = warming->state;
    pthread_mutex_unlock(&warming->lock);
    return state;
}

recmap_status warming_raise(const struct warming *warming, recmap_error *error) {
    if (warming->state.status != RECMAP_OK && error) *error = warming->error;
    return warming->state.status;
}

void warming_destroy(struct warming *warming) {
    if (!warming) return;
    atomic_store(&warming->is_stopping, true);
    workers_join(&warming->workers);
    warm_plan_deinit(&warming->plan);
    pthread_cond_destroy(&warming->ended);
    pthread_mutex_destroy(&warming->lock);
    pthread_mutex_destroy(&warming->plan_lock);
    free(warming);
}
