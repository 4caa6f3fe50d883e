#include "base/os/team.h"

#include <time.h>

#include "base/os/helpers.h"
#include "base/os/thread.h"

struct team {
    const struct team_job *job;
    struct help_request request;
    unsigned helper_limit; /* the calling thread is not a helper */
    pthread_mutex_t lock;  /* guards everything below */
    pthread_cond_t changed;
    unsigned phase;
    /* The parts of the phase that were started: the first ones by the calling thread, the last ones
     * by helpers. So in calls that resemble each other, each thread has the same bytes and columns,
     * which are still in the cache of its core. */
    unsigned first_count, last_count;
    unsigned done;
};

static bool has_ended(const struct team *team) {
    return team->phase == team->job->phase_count;
}

static bool has_part(const struct team *team) {
    return team->first_count + team->last_count < team->job->part_count;
}

/* Called with the lock held, which is released while the part is done and the phase ends. Helpers
 * have left the team when no part was left, so they are asked again for the next phase. */
static void do_next_part(struct team *team, bool is_caller) {
    unsigned phase = team->phase;
    unsigned part = is_caller ? team->first_count++ : team->job->part_count - ++team->last_count;
    pthread_mutex_unlock(&team->lock);
    team->job->do_part(team->job->context, phase, part, is_caller);
    pthread_mutex_lock(&team->lock);
    if (++team->done < team->job->part_count) return;
    /* No part is left to be taken, so the other threads wait, and the calling thread can poll. */
    pthread_mutex_unlock(&team->lock);
    phase = team->job->end_phase(team->job->context, phase, is_caller);
    pthread_mutex_lock(&team->lock);
    team->phase = phase;
    team->first_count = team->last_count = team->done = 0;
    if (!has_ended(team)) helpers_ask(&team->request, team->helper_limit);
    pthread_cond_signal(&team->changed);
}

static void help(void *context) {
    struct team *team = context;
    pthread_mutex_lock(&team->lock);
    while (!has_ended(team) && has_part(team)) do_next_part(team, false);
    pthread_mutex_unlock(&team->lock);
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
    struct team team = {.job = job,
                        .request = {.help = help, .context = &team},
                        .helper_limit = thread_count ? thread_count - 1 : 0,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    condition_init(&team.changed);
    helpers_ask(&team.request, team.helper_limit);
    lead(&team);
    helpers_dismiss(&team.request);
    pthread_cond_destroy(&team.changed);
    pthread_mutex_destroy(&team.lock);
}
