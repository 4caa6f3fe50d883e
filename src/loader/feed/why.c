/* What a loader waits for. The loader's lock is asked for with a limit: a worker may hold it while
 * it takes a step, and then wait for a page of the index that its device does not give. What the
 * workers do is under locks of its own, which nobody holds while waiting. */
#include <stdio.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "loader/feed/loader.h"

enum { LOCK_MS = 200 };

static recmap_cause cause_of(enum activity_stage stage) {
    switch (stage) {
    case ACTIVITY_DISK: return RECMAP_CAUSE_DISK;
    case ACTIVITY_STORE: return RECMAP_CAUSE_STORE;
    case ACTIVITY_INFLATE:
    case ACTIVITY_LOCKED: return RECMAP_CAUSE_INFLATING;
    case ACTIVITY_PARSE: return RECMAP_CAUSE_PARSING;
    case ACTIVITY_IMAGES: return RECMAP_CAUSE_IMAGES;
    default: return RECMAP_CAUSE_NOTHING;
    }
}

static enum activity_stage largest(const uint64_t ns[ACTIVITY_STAGES]) {
    enum activity_stage found = ACTIVITY_IDLE;
    uint64_t most = 0;
    for (int stage = ACTIVITY_IDLE + 1; stage < ACTIVITY_STAGES; stage++) {
        if (ns[stage] <= most) continue;
        most = ns[stage];
        found = (enum activity_stage)stage;
    }
    return found;
}

/* What the workers do, added up. */
struct work {
    uint64_t next_ns[ACTIVITY_STAGES]; /* for the batch that is taken next */
    uint64_t busy_ns[ACTIVITY_STAGES]; /* for all batches, by workers that do not follow others */
    bool has_followers;
};

/* A worker that waits for another one says nothing about the cause, so that one is asked. It may be
 * a thread of another loader: then both wait for the same span. */
static recmap_cause find_cause(const struct work *work) {
    enum activity_stage stage = largest(work->next_ns);
    if (stage == ACTIVITY_IDLE || stage == ACTIVITY_FOLLOW) stage = largest(work->busy_ns);
    if (stage == ACTIVITY_IDLE && work->has_followers) return RECMAP_CAUSE_INFLATING;
    return cause_of(stage);
}

static void add_pending(recmap_why *why, const struct activity_request *request, uint64_t now) {
    uint64_t age = now > request->started_ns ? now - request->started_ns : 0;
    if (!request->name[0] || (why->has_pending && why->pending_ns >= age)) return;
    why->has_pending = 1;
    why->first_byte = request->first_byte;
    why->last_byte = request->last_byte;
    why->attempt = request->attempt;
    why->pending_ns = age;
    memcpy(why->name, request->name, sizeof why->name);
    memcpy(why->last_error, request->error, sizeof why->last_error);
}

/* The time in which a worker follows another one is not counted: that one's is. */
static void add_worker(recmap_why *why, struct work *work, struct activity *activity,
                       uint64_t next_job, uint64_t now) {
    struct activity copy;
    activity_copy(&copy, activity);
    bool is_busy = copy.stage != ACTIVITY_IDLE, follows = copy.stage == ACTIVITY_FOLLOW;
    for (int stage = ACTIVITY_IDLE + 1; stage < ACTIVITY_STAGES; stage++) {
        uint64_t ns = copy.job_ns[stage];
        if (is_busy && copy.job == next_job) work->next_ns[stage] += ns;
        if (stage == ACTIVITY_FOLLOW) continue;
        if (is_busy && !follows) work->busy_ns[stage] += ns;
        why->cause_ns[cause_of((enum activity_stage)stage)] += copy.total_ns[stage];
    }
    work->has_followers |= follows;
    add_pending(why, &copy.request, now);
}

/* Returns the number of the batch that is taken next; UINT64_MAX if the lock is held: then some
 * worker works for it, and what it does is the answer. */
static uint64_t look_at_ring(recmap_why *why, recmap_loader *loader) {
    if (!thread_lock_within(&loader->lock, LOCK_MS)) {
        why->is_waiting = 1;
        return UINT64_MAX;
    }
    uint64_t next = loader->taken;
    why->is_waiting = loader->is_awaited;
    why->batches_begun = (unsigned)(loader->issued - loader->taken);
    why->batches_ready = loader->statistics.batches_ready;
    pthread_mutex_unlock(&loader->lock);
    return next;
}

recmap_status recmap_loader_why(recmap_why *why, recmap_loader *loader, recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    struct work work = {{0}, {0}, false};
    memset(why, 0, sizeof *why);
    uint64_t next = look_at_ring(why, loader), now = clock_ns();
    why->thread_count =
        (unsigned)min_u64(atomic_load(&loader->activity_count), loader->options.thread_count);
    for (unsigned i = 0; i < why->thread_count; i++)
        add_worker(why, &work, &loader->activities[i], next, now);
    why->work = find_cause(&work);
    if (why->is_waiting) why->cause = why->work;
    else if (why->batches_ready) why->cause = RECMAP_CAUSE_CALLER;
    return RECMAP_OK;
}
