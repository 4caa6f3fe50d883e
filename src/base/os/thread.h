/* Threads: the number of cores, a group of workers, and the one lock that survives fork. */
#ifndef RECMAP_BASE_OS_THREAD_H
#define RECMAP_BASE_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <recmap/status.h>

/* The number of cores this process may run on, at least 1. */
unsigned core_count(void);

/* One lock for the whole process, for rare operations (mapping a shard). fork takes it too, so that
 * a child never inherits it locked by a thread that does not exist there. Not recursive. */
void process_lock(void);
void process_unlock(void);

/* Initializes a condition whose timed waits use the monotonic clock (clock_until), because the
 * system time may be changed during a wait. */
void condition_init(pthread_cond_t *condition);

/* Locks the mutex unless that takes longer than about `milliseconds`. Returns whether it is locked.
 */
bool thread_lock_within(pthread_mutex_t *mutex, unsigned milliseconds);

/* How often this thread has waited so far. */
struct thread_waits {
    uint64_t faults; /* for a page of a map to be read from a device */
    uint64_t sleeps; /* for anything, such as a device or a lock */
};
struct thread_waits thread_get_waits(void);

/* Threads that all run one function until it returns. Signals are blocked in them and go to the
 * application's threads. */
struct worker_group {
    pthread_t *threads;
    unsigned count;
};

#define WORKER_GROUP_INIT                                                                          \
    { NULL, 0 }

/* Starts up to `count` threads, and at least one. With fewer threads than requested the work only
 * takes longer. */
recmap_status workers_start(struct worker_group *group, unsigned count, void *(*run)(void *),
                            void *context, recmap_error *error);

/* Waits for all threads and frees the group. */
void workers_join(struct worker_group *group);

#endif
