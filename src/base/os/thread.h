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

/* Gives the calling thread the lowest priority of all that still progress while others work: for
 * CPUs, and for disks whose scheduler knows priorities. */
void thread_lower_priority(void);

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

/* How long this thread has slept, counted from some time before it started: it neither ran nor
 * waited for a CPU. If the kernel does not say how long threads wait for a CPU, that counts too. */
uint64_t thread_get_slept_ns(void);

/* The same of another thread of this process, which should be asleep: otherwise some of the time in
 * which it ran counts. Returns false if the kernel does not say. */
bool thread_find_slept_ns(uint64_t *slept_ns, long number);

/* How long a thread of this process has waited for a CPU since it started. Returns false if the
 * kernel does not say. */
bool thread_find_queued_ns(uint64_t *queued_ns, long number);

/* Returns true if a thread of this process runs, or would run if it had a CPU. */
bool thread_is_runnable(long number);

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
