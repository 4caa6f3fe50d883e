/* Threads: how many cores there are, a group of workers, and the one lock that survives fork. */
#ifndef RECMAP_OS_THREAD_H
#define RECMAP_OS_THREAD_H

#include <pthread.h>
#include <stdint.h>

#include <recmap/status.h>

/* Cores that this process may run on, at least 1. */
unsigned core_count(void);

/* One lock for the whole process, for rare work (mapping a shard). It is held across fork, so that
 * a child never inherits it taken by a thread that it does not have. Not recursive. */
void process_lock(void);
void process_unlock(void);

/* Makes a condition whose timed waits go by the clock that only goes forward (clock_until): that of
 * the day may be set while one waits. */
void condition_init(pthread_cond_t *made);

/* How often this thread had to wait so far. */
struct thread_waits {
    uint64_t faults; /* for a page of a map to be read from a device */
    uint64_t sleeps; /* for anything: a device, a lock */
};
struct thread_waits thread_get_waits(void);

/* Threads that run the same function until it returns. Signals are blocked in them: they belong to
 * the application's threads. */
struct worker_group {
    pthread_t *threads;
    unsigned count;
};

#define WORKER_GROUP_INIT                                                                          \
    { NULL, 0 }

/* Starts up to `count` threads, at least one; with fewer than asked the work is only slower. */
recmap_status workers_start(struct worker_group *group, unsigned count, void *(*run)(void *),
                            void *context, recmap_error *error);

/* Waits for all of them and frees the group. */
void workers_join(struct worker_group *group);

#endif
