#include "loader/feed/warm_ahead.h"

#include "base/core/bytes.h"
#include "dataset/open/dataset.h"
#include "loader/feed/loader.h"

enum { THREADS_MAX = 4 };

/* ---- How it is going. */

static recmap_warm_state state_of_end(recmap_warm_end end) {
    switch (end) {
    case RECMAP_WARM_MEMORY: return RECMAP_WARM_STATE_MEMORY;
    case RECMAP_WARM_CACHE: return RECMAP_WARM_STATE_CACHE;
    default: return RECMAP_WARM_STATE_COMPLETE;
    }
}

static recmap_warm_state name_state(const struct warming_state *state) {
    if (state->status != RECMAP_OK) return RECMAP_WARM_STATE_FAILED;
    if (!state->is_over) return RECMAP_WARM_STATE_RUNNING;
    return state_of_end(state->report.end);
}

void loader_warm_count(recmap_loader_statistics *statistics, const recmap_loader *loader) {
    const struct warm_ahead *warm = &loader->warm;
    statistics->warm_state = warm->state;
    statistics->warm_read_size = warm->done.read_size;
    statistics->warm_present_size = warm->done.present_size;
    if (!warm->warming) return;
    struct warming_state state = warming_state(warm->warming);
    statistics->warm_state = name_state(&state);
    statistics->warm_read_size += state.report.read_size;
    statistics->warm_present_size += state.report.present_size;
}

/* ---- Ending. */

static uint64_t count_bytes(const recmap_dataset *dataset) {
    uint64_t size = 0;
    for (uint64_t i = 0; i < dataset->info.shard_count; i++)
        size += dataset->shard_table[i].entry.size - dataset->shard_table[i].entry.start;
    return size;
}

/* If everything was warmed, no epoch needs more; and where there was no room, or an error, there is
 * none for the next epoch either. */
static bool is_spent_after(const recmap_loader *loader, const struct warming_state *state) {
    bool has_all = state->report.read_size + state->report.present_size >=
                   count_bytes(loader->dataset);
    return name_state(state) != RECMAP_WARM_STATE_COMPLETE || has_all;
}

/* The threads are joined without the lock: other threads may ask for the statistics meanwhile. */
static void end(recmap_loader *loader) {
    struct warm_ahead *warm = &loader->warm;
    struct warming *warming = warm->warming;
    if (!warming) return;
    struct warming_state state = warming_state(warming);
    pthread_mutex_lock(&loader->lock);
    warm->is_spent = state.is_over && is_spent_after(loader, &state);
    warm->state = state.is_over ? name_state(&state) : RECMAP_WARM_STATE_WAITING;
    warm->done.read_size += state.report.read_size;
    warm->done.present_size += state.report.present_size;
    warm->warming = NULL;
    pthread_mutex_unlock(&loader->lock);
    warming_destroy(warming);
    warm_auto_end(&warm->automatic);
}

void loader_warm_stop(recmap_loader *loader) {
    end(loader);
    warm_auto_end(&loader->warm.automatic);
    loader->warm.has_begun = false;
}

/* ---- Beginning. */

struct warming_options loader_warm_options(const recmap_loader *loader) {
    struct warming_options options = {.warm = RECMAP_WARM_OPTIONS_INIT,
                                      .is_background = true,
                                      .only_disks = loader->options.warm == RECMAP_WARM_AUTO};
    recmap_warm_options *warm = &options.warm;
    warm->order = (recmap_order *)loader_order_of(loader, loader->epoch);
    warm->epoch = loader->epoch;
    warm->position = loader->position;
    warm->dealing = loader->deal;
    warm->first_rank = loader->options.rank;
    warm->rank_count = 1;
    return options;
}

static void begin(recmap_loader *loader) {
    struct warm_ahead *warm = &loader->warm;
    struct warming_options options = loader_warm_options(loader);
    struct warming *warming = NULL;
    recmap_status status = warming_start(&warming, loader->dataset, &options, NULL);
    warm->has_begun = true;
    warm->epoch = loader->epoch;
    warm->is_spent = status != RECMAP_OK;
    if (status != RECMAP_OK) warm_auto_end(&warm->automatic);
    pthread_mutex_lock(&loader->lock);
    warm->warming = warming;
    warm->state = status == RECMAP_OK ? RECMAP_WARM_STATE_RUNNING : RECMAP_WARM_STATE_FAILED;
    pthread_mutex_unlock(&loader->lock);
}

/* Returns true if to begin. What forbids it may change, except where the shards are. */
static bool is_due(recmap_loader *loader) {
    recmap_warm_state why;
    if (loader->options.warm != RECMAP_WARM_AUTO) return true;
    if (!warm_auto_has_waited(loader)) return false;
    if (warm_auto_may_begin(&why, loader)) return true;
    pthread_mutex_lock(&loader->lock);
    loader->warm.state = why;
    pthread_mutex_unlock(&loader->lock);
    loader->warm.is_spent = why == RECMAP_WARM_STATE_UNSUITABLE;
    return false;
}

/* Lets another process of this machine warm what its rank reads. */
static void unlock_if_over(struct warm_ahead *warm) {
    if (warm->automatic.lock && warming_state(warm->warming).is_over)
        warm_auto_end(&warm->automatic);
}

void loader_warm(recmap_loader *loader) {
    struct warm_ahead *warm = &loader->warm;
    if (loader->options.warm == RECMAP_WARM_OFF || warm->is_spent) return;
    if (warm->has_begun && warm->epoch == loader->epoch) {
        unlock_if_over(warm);
        return;
    }
    end(loader);
    if (warm->is_spent || loader->epoch >= loader->options.batches_ahead_epoch_limit) return;
    if (is_due(loader)) begin(loader);
}
