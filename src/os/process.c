#include "os/process.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

long process_id(void) {
    return (long)getpid();
}

uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t process_file_limit(void) {
    enum { USUAL = 1024 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY) return USUAL;
    return (size_t)limit.rlim_cur;
}
