#include "os/team.h"

#include <time.h>

#include "os/thread.h"

struct team {
    const struct team_job *job;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    unsigned phase;
    unsigned taken; /* parts of the phase that a thread has started */
    unsigned done;
};

/* Called with the lock held, which is released while the part is done and the phase ends. */
static void do_next_part(struct team *team, bool is_caller) {
    unsigned phase = team->phase, part = team->taken++;
    pthread_mutex_unlock(&team->lock);
    team->job->do_part(team->job->context, phase, part, is_caller);
    pthread_mutex_lock(&team->lock);
    if (++team->done < team->job->part_count) return;
    /* No part is left to be taken, so the other threads wait, and the calling thread can poll. */
    pthread_mutex_unlock(&team->lock);
    phase = team->job->end_phase(team->job->context, phase, is_caller);
    pthread_mutex_lock(&team->lock);
    team->phase = phase;
    team->taken = team->done = 0;
    pthread_cond_broadcast(&team->changed);
}

static bool has_ended(const struct team *team) {
    return team->phase == team->job->phase_count;
}

static bool has_part(const struct team *team) {
    return team->taken < team->job->part_count;
}

static void *work(void *context) {
    struct team *team = context;
    pthread_mutex_lock(&team->lock);
    while (!has_ended(team)) {
        if (has_part(team)) do_next_part(team, false);
        else pthread_cond_wait(&team->changed, &team->lock);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* Waits for the other threads, but not longer than until the next poll. */
static void wait_and_poll(struct team *team) {
    enum { POLL_NS = 20000000, SECOND_NS = 1000000000 };
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += POLL_NS;
    end.tv_sec += end.tv_nsec / SECOND_NS;
    end.tv_nsec %= SECOND_NS;
    if (!pthread_cond_timedwait(&team->changed, &team->lock, &end)) return;
    pthread_mutex_unlock(&team->lock);
    if (team->job->poll) team->job->poll(team->job->context);
    pthread_mutex_lock(&team->lock);
}

static void lead(struct team *team) {
    pthread_mutex_lock(&team->lock);
    while (!has_ended(team)) {
        if (has_part(team)) do_next_part(team, true);
        else wait_and_poll(team);
    }
    pthread_mutex_unlock(&team->lock);
}

void team_run(const struct team_job *job, unsigned thread_count) {
    struct team team = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker_group group = WORKER_GROUP_INIT;
    condition_init(&team.changed);
    if (thread_count > 1 && workers_start(&group, thread_count - 1, work, &team, NULL) != RECMAP_OK)
        group = (struct worker_group)WORKER_GROUP_INIT;
    lead(&team);
    workers_join(&group);
    pthread_cond_destroy(&team.changed);
    pthread_mutex_destroy(&team.lock);
}
