/* Threads, mutexes and conditions. Where pthreads keep their own state, the world keeps the owner
 * of a mutex; all zeros are an unlocked mutex, as PTHREAD_MUTEX_INITIALIZER is. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "simulation/world/faults.h"
#include "simulation/world/process.h"
#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

#define NS_PER_S 1000000000

struct simulated_mutex {
    struct fiber *owner;
};

static struct simulated_mutex *mutex_of(pthread_mutex_t *mutex) {
    return (struct simulated_mutex *)mutex;
}

static uint64_t time_of(const struct timespec *until) {
    return (uint64_t)until->tv_sec * NS_PER_S + (uint64_t)until->tv_nsec;
}

/* ---- Threads. */

int world_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *argument) {
    (void)attributes;
    if (faults_hit("pthread_create", EAGAIN)) return EAGAIN;
    struct fiber *fiber = schedule_create(process_current(), run, argument);
    if (!fiber) return EAGAIN;
    trace("starts thread %u", fiber->number);
    *thread = (pthread_t)fiber;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result) {
    struct fiber *fiber = (struct fiber *)thread;
    schedule_point();
    while (fiber->state != FIBER_ENDED) schedule_wait(WAIT_JOIN, fiber, FOREVER);
    if (result) *result = fiber->result;
    schedule_release(fiber);
    return 0;
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *former) {
    (void)how, (void)set;
    if (former) sigemptyset(former);
    return 0;
}

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    (void)prepare, (void)parent, (void)child;
    return 0;
}

int __wrap_sched_yield(void) {
    schedule_sleep(1000);
    return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    (void)pid;
    memset(set, 0, size);
    CPU_SET(0, set);
    CPU_SET(1, set);
    return 0;
}

int __wrap_getrusage(int who, struct rusage *usage) {
    (void)who;
    *usage = (struct rusage){.ru_majflt = (long)(schedule_now() / 100000)};
    return 0;
}

/* ---- Mutexes. */

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
    (void)attributes;
    memset(mutex, 0, sizeof *mutex);
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex) {
    if (mutex_of(mutex)->owner) run_fail("%s destroys a locked mutex", process_current()->name);
    return 0;
}

static int lock_until(pthread_mutex_t *mutex, uint64_t until_ns) {
    struct simulated_mutex *simulated = mutex_of(mutex);
    struct fiber *self = schedule_current();
    if (!self) return 0; /* while the program is loaded */
    schedule_point();
    if (simulated->owner == self) run_fail("%s locks a mutex twice", process_current()->name);
    while (simulated->owner)
        if (!schedule_wait(WAIT_MUTEX, mutex, until_ns)) return ETIMEDOUT;
    simulated->owner = self;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    return lock_until(mutex, FOREVER);
}

/* The wall clock and the steady one are the same. */
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    return lock_until(mutex, time_of(until));
}

static void release(pthread_mutex_t *mutex) {
    struct simulated_mutex *simulated = mutex_of(mutex);
    if (simulated->owner != schedule_current())
        run_fail("%s unlocks a mutex that another thread has, or none", process_current()->name);
    simulated->owner = NULL;
    schedule_wake_one(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (!schedule_current()) return 0;
    release(mutex);
    schedule_point();
    return 0;
}

/* ---- Conditions. */

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    (void)attributes;
    memset(condition, 0, sizeof *condition);
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition) {
    (void)condition;
    return 0;
}

int __wrap_pthread_condattr_init(pthread_condattr_t *attributes) {
    (void)attributes;
    return 0;
}

int __wrap_pthread_condattr_destroy(pthread_condattr_t *attributes) {
    (void)attributes;
    return 0;
}

int __wrap_pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) {
    (void)attributes, (void)clock;
    return 0;
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns) {
    schedule_point();
    release(mutex);
    bool was_woken = schedule_wait(WAIT_CONDITION, condition, until_ns);
    while (mutex_of(mutex)->owner) schedule_wait(WAIT_MUTEX, mutex, FOREVER);
    mutex_of(mutex)->owner = schedule_current();
    return was_woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    return wait_until(condition, mutex, FOREVER);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until) {
    return wait_until(condition, mutex, time_of(until));
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition) {
    if (!schedule_current()) return 0;
    schedule_point();
    schedule_wake_one(condition);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition) {
    if (!schedule_current()) return 0;
    schedule_point();
    schedule_wake_all(condition);
    return 0;
}
