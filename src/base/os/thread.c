#include "base/os/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/core/error.h"
#include "base/os/process.h"

unsigned core_count(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) {
        int count = CPU_COUNT(&set);
        if (count > 0) return (unsigned)count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

struct thread_waits thread_get_waits(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage)) return (struct thread_waits){0, 0};
    return (struct thread_waits){(uint64_t)usage.ru_majflt, (uint64_t)usage.ru_nvcsw};
}

/* Reads how long a thread has run and waited for a CPU. The first is not up to date while it runs.
 */
static bool read_schedule(uint64_t *ran_ns, uint64_t *queued_ns, const char *path) {
    char line[64], *end;
    FILE *stream = fopen(path, "re");
    if (!stream) return false;
    bool is_read = fgets(line, sizeof line, stream);
    fclose(stream);
    if (!is_read) return false;
    *ran_ns = strtoull(line, &end, 10);
    *queued_ns = strtoull(end, NULL, 10);
    return true;
}

uint64_t thread_get_slept_ns(void) {
    struct timespec ran;
    uint64_t former_ns, queued_ns;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran)) return 0;
    if (!read_schedule(&former_ns, &queued_ns, "/proc/thread-self/schedstat")) queued_ns = 0;
    return clock_ns() - (uint64_t)ran.tv_sec * 1000000000u - (uint64_t)ran.tv_nsec - queued_ns;
}

bool thread_find_queued_ns(uint64_t *queued_ns, long number) {
    char path[64];
    uint64_t ran_ns;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", number);
    return read_schedule(&ran_ns, queued_ns, path);
}

bool thread_is_runnable(long number) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", number);
    FILE *stream = fopen(path, "re");
    if (!stream) return false;
    size_t size = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[size] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

bool thread_find_slept_ns(uint64_t *slept_ns, long number) {
    char path[64];
    uint64_t ran_ns, queued_ns;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", number);
    if (!read_schedule(&ran_ns, &queued_ns, path)) return false;
    *slept_ns = clock_ns() - ran_ns - queued_ns;
    return true;
}

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_mutex(void) {
    pthread_mutex_lock(&process_mutex);
}

static void unlock_mutex(void) {
    pthread_mutex_unlock(&process_mutex);
}

/* When the library is loaded, not when the lock is first taken: that may be while another thread is
 * within fork, which then would not hold the lock. */
__attribute__((constructor)) static void hold_across_fork(void) {
    pthread_atfork(lock_mutex, unlock_mutex, unlock_mutex);
}

void process_lock(void) {
    lock_mutex();
}

void process_unlock(void) {
    unlock_mutex();
}

/* glibc has no function for priorities of disks. Class 2 is "best effort", of which 7 is last:
 * reads of the class "idle" could wait without end. */
void thread_lower_priority(void) {
    enum { WHO_PROCESS = 1, CLASS_SHIFT = 13, BEST_EFFORT = 2, LAST = 7, NICE_MAX = 19 };
    long thread = syscall(SYS_gettid);
    setpriority(PRIO_PROCESS, (id_t)thread, NICE_MAX);
    syscall(SYS_ioprio_set, WHO_PROCESS, thread, BEST_EFFORT << CLASS_SHIFT | LAST);
}

void condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* New threads inherit the signal mask of their creator, so signals are blocked here while the
 * threads start. A partial failure is not an error as long as one thread runs. */
recmap_status workers_start(struct worker_group *group, unsigned count, void *(*run)(void *),
                            void *context, recmap_error *error) {
    pthread_t *threads = calloc(count, sizeof *threads);
    if (!threads) return fail_memory(error);
    sigset_t all, before;
    sigfillset(&all);
    /* Faults in a worker must reach the SIGBUS guard. */
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    unsigned started = 0;
    int failed = 0;
    while (started < count && !failed) {
        failed = pthread_create(&threads[started], NULL, run, context);
        if (!failed) started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) {
        free(threads);
        return fail_errno(error, failed == EAGAIN ? ENOMEM : failed, NULL, "start a thread");
    }
    *group = (struct worker_group){threads, started};
    return RECMAP_OK;
}

void workers_join(struct worker_group *group) {
    for (unsigned i = 0; i < group->count; i++) pthread_join(group->threads[i], NULL);
    free(group->threads);
    *group = (struct worker_group)WORKER_GROUP_INIT;
}

/* glibc before 2.30 has no wait for a mutex by the monotonic clock. When the system time is
 * changed, one wait is longer or shorter. */
bool thread_lock_within(pthread_mutex_t *mutex, unsigned milliseconds) {
    enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)milliseconds * NS_PER_MS;
    until.tv_sec += (time_t)(ns / NS_PER_S);
    until.tv_nsec = (long)(ns % NS_PER_S);
    return pthread_mutex_timedlock(mutex, &until) == 0;
}
