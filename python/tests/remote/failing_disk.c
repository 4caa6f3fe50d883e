/* A disk on which reads and writes of some files fail, for a process that preloads this library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The errors of calls on files with this in their names; 0: none. */
static const char *name = ".rmcache";
static volatile int read_error, write_error;
static volatile unsigned period = 1; /* calls from one that fails to the next */
static unsigned calls, failures;

void fail_calls(int of_reads, int of_writes, unsigned each) {
    read_error = of_reads;
    write_error = of_writes;
    period = each;
}

unsigned failure_count(void) {
    return __atomic_load_n(&failures, __ATOMIC_RELAXED);
}

/* Not an error of calls: they read or write other bytes. */
enum { DAMAGED = -1 };

static int must_fail(int fd, int error) {
    char link[64], path[4096];
    if (!error) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    if (!strstr(path, name) || __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % period) return 0;
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    errno = error;
    return error == DAMAGED ? DAMAGED : 1;
}

ssize_t pread64(int fd, void *data, size_t size, off_t offset) {
    ssize_t (*real)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread64");
    int failure = must_fail(fd, read_error);
    if (failure == 1) return -1;
    ssize_t got = real(fd, data, size, offset);
    if (failure == DAMAGED)
        for (ssize_t i = 0; i < got; i++) ((unsigned char *)data)[i] ^= 4;
    return got;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    return pread64(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite64");
    return must_fail(fd, write_error) ? -1 : real(fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite64(fd, data, size, offset);
}
