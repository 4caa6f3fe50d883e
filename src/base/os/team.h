/* A team: threads that do one job together, in phases. */
#ifndef RECMAP_BASE_OS_TEAM_H
#define RECMAP_BASE_OS_TEAM_H

#include <stdbool.h>

/* A job of several phases. Each phase is done in the same number of parts, on any threads and in
 * any order. A phase starts when all parts of the previous one are done. */
struct team_job {
    unsigned phase_count;
    unsigned part_count;
    void *context;
    /* `is_caller`: on the calling thread. */
    void (*do_part)(void *context, unsigned phase, unsigned part, bool is_caller);
    /* Called once, on any thread, when all parts of the phase are done, while no part runs. Returns
     * the next phase, which must be a later one; `phase_count` ends the job. */
    unsigned (*end_phase)(void *context, unsigned phase, bool is_caller);
    /* Called on the calling thread now and then while it waits for other threads; may be NULL. */
    void (*poll)(void *context);
};

/* Does the job on the calling thread and up to `thread_count` - 1 helpers. Cannot fail: without
 * helpers, the calling thread does all parts. */
void team_run(const struct team_job *job, unsigned thread_count);

#endif
