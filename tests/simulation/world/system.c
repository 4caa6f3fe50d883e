/* Time, random numbers, and what else a process asks the system. */
#include <errno.h>
#include <liburing.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "simulation/world/process.h"
#include "simulation/world/schedule.h"
#include "simulation/world/system.h"

#define NS_PER_S 1000000000
#define START_S 1700000000

static struct random_stream choices;

void system_init(uint64_t seed) {
    choices = random_stream(seed, 4);
}

void world_point(void) {
    schedule_point();
}

/* Both clocks show the same, so that mutexes and conditions need not know which one they use. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    uint64_t ns = schedule_now();
    *now = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    return 0;
}

time_t __wrap_time(time_t *now) {
    time_t value = START_S + (time_t)(schedule_now() / NS_PER_S);
    if (now) *now = value;
    return value;
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *rest) {
    (void)rest;
    schedule_sleep((uint64_t)duration->tv_sec * NS_PER_S + (uint64_t)duration->tv_nsec);
    return 0;
}

ssize_t __wrap_getrandom(void *data, size_t size, unsigned flags) {
    (void)flags;
    uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)random_next(&choices);
    return (ssize_t)size;
}

pid_t __wrap_getpid(void) {
    const struct process *process = process_current();
    return process ? process->pid : 1;
}

int __wrap_getrlimit(int resource, struct rlimit *limit) {
    (void)resource;
    *limit = (struct rlimit){DESCRIPTORS_MAX, DESCRIPTORS_MAX};
    return 0;
}

long __wrap_sysconf(int name) {
    if (name == _SC_PAGESIZE) return 4096;
    if (name == _SC_PHYS_PAGES) return 1 << 20;
    return name == _SC_NPROCESSORS_ONLN ? 2 : sysconf(name);
}

char *__wrap_getenv(const char *name) {
    return !strcmp(name, "TMPDIR") ? (char *)"/tmp" : NULL;
}

/* The kernel of the world has no io_uring: reads past the page cache fall back to others. */
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags) {
    (void)entries, (void)ring, (void)flags;
    return -ENOSYS;
}
