#include "base/os/process.h"

#include <sys/random.h>
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

int64_t clock_unix_s(void) {
    return (int64_t)time(NULL);
}

struct timespec clock_until(uint64_t timeout_ns) {
    enum { NS_A_SECOND = 1000000000 };
    const uint64_t max_ns = (uint64_t)100 * 365 * 86400 * NS_A_SECOND;
    if (timeout_ns > max_ns) timeout_ns = max_ns;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(timeout_ns / NS_A_SECOND);
    until.tv_nsec += (long)(timeout_ns % NS_A_SECOND);
    if (until.tv_nsec >= NS_A_SECOND) {
        until.tv_nsec -= NS_A_SECOND;
        until.tv_sec++;
    }
    return until;
}

void sleep_ns(uint64_t duration_ns) {
    enum { NS_A_SECOND = 1000000000 };
    struct timespec pause = {(time_t)(duration_ns / NS_A_SECOND),
                             (long)(duration_ns % NS_A_SECOND)};
    nanosleep(&pause, NULL);
}

uint64_t random_bits(void) {
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = (clock_ns() ^ (uint64_t)getpid() << 32) * 0x9e3779b97f4a7c15ull;
    return bits;
}

size_t process_file_limit(void) {
    enum { USUAL = 1024 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY) return USUAL;
    return (size_t)limit.rlim_cur;
}
