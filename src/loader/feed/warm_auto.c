#include "loader/feed/warm_auto.h"

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/memory/page_cache.h"
#include "base/os/private_file.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "dataset/open/open_shard.h"
#include "dataset/warm/warm_plan.h"
#include "loader/feed/loader.h"
#include "loader/feed/warm_ahead.h"

#define INTERVAL_NS (UINT64_C(1000) * 1000 * 1000)

/* Of the memory that files can have, this part stays free: as much as warming itself leaves. */
enum { FREE_SHARE = 16, SAMPLE_MAX = 4096 };

/* ---- Measuring. */

static void add_times(struct warm_auto *sum, struct activity *activity) {
    struct activity copy;
    uint64_t queued_ns = 0;
    activity_copy(&copy, activity);
    sum->disk_ns += copy.total_ns[ACTIVITY_DISK];
    for (int stage = ACTIVITY_IDLE + 1; stage < ACTIVITY_STAGES; stage++)
        sum->busy_ns += copy.total_ns[stage];
    if (copy.thread && thread_find_queued_ns(&queued_ns, copy.thread)) sum->queued_ns += queued_ns;
}

/* Only the calling thread changes how long it has waited, so that needs no lock. */
static struct warm_auto take_times(recmap_loader *loader, uint64_t now_ns) {
    struct warm_auto sum = {.since_ns = now_ns, .wait_ns = loader->statistics.caller_wait_ns};
    uint64_t count = min_u64(atomic_load(&loader->activity_count), loader->options.thread_count);
    for (uint64_t i = 0; i < count; i++) add_times(&sum, &loader->activities[i]);
    pthread_mutex_lock(&loader->lock);
    sum.record_count = loader->statistics.record_count;
    sum.missing_count = loader->statistics.readahead_count;
    pthread_mutex_unlock(&loader->lock);
    return sum;
}

/* Workers may have been replaced, and their times begin again. */
static uint64_t increase(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static struct warm_auto difference(const struct warm_auto *now, const struct warm_auto *last) {
    return (struct warm_auto){
        .wait_ns = increase(now->wait_ns, last->wait_ns),
        .disk_ns = increase(now->disk_ns, last->disk_ns),
        .busy_ns = increase(now->busy_ns, last->busy_ns),
        .queued_ns = increase(now->queued_ns, last->queued_ns),
        .record_count = increase(now->record_count, last->record_count),
        .missing_count = increase(now->missing_count, last->missing_count),
    };
}

bool warm_auto_is_slow(const struct warm_auto *measured, uint64_t passed_ns) {
    if (4 * measured->wait_ns < passed_ns) return false;
    if (2 * measured->disk_ns > measured->busy_ns) return true;
    bool is_cold = measured->missing_count && 4 * measured->missing_count >= measured->record_count;
    return is_cold && 2 * (measured->disk_ns + measured->queued_ns) > measured->busy_ns;
}

bool warm_auto_has_waited(recmap_loader *loader) {
    struct warm_auto *last = &loader->warm.automatic;
    if (last->since_ns && loader->statistics.caller_wait_ns == last->wait_ns) return false;
    uint64_t now_ns = clock_ns(), passed_ns = now_ns - last->since_ns;
    if (last->since_ns && passed_ns < INTERVAL_NS) return false;
    struct warm_auto now = take_times(loader, now_ns), measured = difference(&now, last);
    bool has_waited = last->since_ns && warm_auto_is_slow(&measured, passed_ns);
    now.lock = last->lock;
    *last = now;
    return has_waited;
}

/* ---- Conditions. */

static bool are_random(const struct step_records *list) {
    size_t following = 0;
    for (size_t i = 1; i < list->count; i++)
        following += list->numbers[i] == list->numbers[i - 1] + 1;
    return list->count > 1 && following < list->count / 2;
}

/* Looks at records of the next steps, of all ranks. */
static bool is_random(const recmap_loader *loader) {
    struct step_records list = {.numbers = NULL};
    recmap_deal deal;
    const recmap_order *order = loader_order_of(loader, loader->epoch);
    uint64_t left = recmap_order_count(order) - loader->position;
    recmap_share share = {loader->position, min_u64(left, SAMPLE_MAX)};
    bool is_random = recmap_deal_init(&deal, order, loader->epoch, loader->position, &loader->deal,
                                      NULL) == RECMAP_OK &&
                     step_records_fill(&list, &deal, &share, NULL) == RECMAP_OK &&
                     are_random(&list);
    step_records_deinit(&list);
    return is_random;
}

/* What compressed shards inflate to is not in the page cache. */
static bool are_plain_files(const recmap_dataset *dataset) {
    for (uint64_t i = 0; i < dataset->info.shard_count; i++)
        if (dataset->shard_table[i].entry.compression != COMPRESSION_NONE) return false;
    return !dataset->is_remote && dataset->info.shard_count;
}

static bool fits(const recmap_loader *loader) {
    struct warming_options options = loader_warm_options(loader);
    struct warm_plan plan;
    uint64_t room = page_cache_size(true), size = UINT64_MAX;
    if (warm_plan_init(&plan, loader->dataset, &options.warm, NULL) == RECMAP_OK)
        size = warm_plan_size(&plan);
    warm_plan_deinit(&plan);
    return size <= room - room / FREE_SHARE;
}

static struct source *open_first(const recmap_dataset *dataset) {
    struct open_shard *shard;
    struct source *source = NULL;
    bool is_same = false;
    if (dataset_pin_shard(&shard, dataset, 0, NULL) != RECMAP_OK) return NULL;
    recmap_status status = open_shard_reopen(&source, &is_same, shard, NULL);
    shard_cache_unpin(shard);
    if (status == RECMAP_OK && is_same) return source;
    if (status == RECMAP_OK) source_close(source);
    return NULL;
}

static recmap_warm_state lock_first(struct source **lock, const recmap_dataset *dataset) {
    bool is_held = false;
    struct source *source = open_first(dataset);
    *lock = NULL;
    if (!source || !file_is_on_disk(source->fd)) {
        source_close(source);
        return RECMAP_WARM_STATE_UNSUITABLE;
    }
    if (private_lock(&is_held, source->fd, PRIVATE_TRY_EXCLUSIVE, "", NULL) == RECMAP_OK && is_held)
        *lock = source;
    else source_close(source);
    return *lock ? RECMAP_WARM_STATE_RUNNING : RECMAP_WARM_STATE_OTHER;
}

bool warm_auto_may_begin(recmap_warm_state *why, recmap_loader *loader) {
    struct warm_auto *automatic = &loader->warm.automatic;
    if (!are_plain_files(loader->dataset)) *why = RECMAP_WARM_STATE_UNSUITABLE;
    else if (!is_random(loader)) *why = RECMAP_WARM_STATE_SEQUENTIAL;
    else if (!fits(loader)) *why = RECMAP_WARM_STATE_MEMORY;
    else *why = lock_first(&automatic->lock, loader->dataset);
    return *why == RECMAP_WARM_STATE_RUNNING;
}

/* A child process that was forked meanwhile has the descriptor too, so the lock is released
 * explicitly. */
void warm_auto_end(struct warm_auto *automatic) {
    if (!automatic->lock) return;
    private_unlock(automatic->lock->fd);
    source_close(automatic->lock);
    automatic->lock = NULL;
}
