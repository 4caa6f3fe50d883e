/* A disk that is as slow as a test asks for, for a process that preloads this library.
 *
 * Mappings of shards are memory of which pages are missing. A thread fills each page that is
 * touched, after the delay. Reads of files wait before they read. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAPS = 256, PAGE = 4096 };

static struct map {
    char *start;
    size_t size;
    int fd;
    off_t offset;
} maps[MAPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int faults = -1;
static char slow_name[64];    /* files with this in their names are slow; "": none */
static volatile long page_us; /* the delay of a page, and of a read for each page of it */

static void wait_pages(size_t pages) {
    long us = page_us * (long)pages;
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static int is_named(int fd, const char *part) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = fd < 0 ? -1 : readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return strstr(path, part) != NULL;
}

static ssize_t read_at(int fd, void *data, size_t size, off_t offset) {
    ssize_t (*real)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread64");
    return real(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off_t offset) {
    if (page_us && slow_name[0] && is_named(fd, slow_name)) wait_pages((size + PAGE - 1) / PAGE);
    return read_at(fd, data, size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    return pread64(fd, data, size, offset);
}

static struct map *find_map(const char *address) {
    for (int i = 0; i < MAPS; i++)
        if (maps[i].start && address >= maps[i].start && address < maps[i].start + maps[i].size)
            return &maps[i];
    return NULL;
}

/* Fills the page that was touched. */
static void fill(char *page) {
    static char bytes[PAGE] __attribute__((aligned(PAGE)));
    memset(bytes, 0, PAGE);
    pthread_mutex_lock(&lock);
    const struct map *map = find_map(page);
    if (map && read_at(map->fd, bytes, PAGE, map->offset + (page - map->start)) < 0)
        memset(bytes, 0, PAGE);
    pthread_mutex_unlock(&lock);
    struct uffdio_copy copy = {(unsigned long)page, (unsigned long)bytes, PAGE, 0, 0};
    ioctl(faults, UFFDIO_COPY, &copy);
}

static void *serve(void *context) {
    struct uffd_msg message;
    while (read(faults, &message, sizeof message) == sizeof message) {
        if (message.event != UFFD_EVENT_PAGEFAULT) continue;
        if (page_us) wait_pages(1);
        fill((char *)(message.arg.pagefault.address & ~(uint64_t)(PAGE - 1)));
    }
    return context;
}

static void start(void) {
    pthread_t thread;
    struct uffdio_api api = {.api = UFFD_API};
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (faults >= 0 && !ioctl(faults, UFFDIO_API, &api) &&
        !pthread_create(&thread, NULL, serve, NULL))
        return;
    faults = -1;
}

/* Returns true if mappings can be slow. */
int slow_pages(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return faults >= 0;
}

/* Files and mappings of files with `name` in their names wait this long for each page. */
void slow_down(const char *name, long us) {
    page_us = 0;
    snprintf(slow_name, sizeof slow_name, "%s", name);
    page_us = us;
}

static char *map_slowly(size_t size, int fd, off_t offset) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t whole = (size + PAGE - 1) / PAGE * PAGE;
    struct uffdio_register range = {{(unsigned long)memory, whole}};
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (memory == MAP_FAILED || ioctl(faults, UFFDIO_REGISTER, &range)) return MAP_FAILED;
    pthread_mutex_lock(&lock);
    struct map *map = maps;
    while (map < maps + MAPS && map->start) map++;
    if (map == maps + MAPS) abort();
    *map = (struct map){memory, size, dup(fd), offset};
    pthread_mutex_unlock(&lock);
    return memory;
}

void *mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap64");
    if (access == PROT_READ && slow_name[0] && is_named(fd, slow_name) && slow_pages())
        return map_slowly(size, fd, offset);
    return real(at, size, access, flags, fd, offset);
}

void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset) {
    return mmap64(at, size, access, flags, fd, offset);
}

int munmap(void *start, size_t size) {
    int (*real)(void *, size_t) = dlsym(RTLD_NEXT, "munmap");
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPS; i++)
        if (maps[i].start == start) {
            close(maps[i].fd);
            maps[i].start = NULL;
        }
    pthread_mutex_unlock(&lock);
    return real(start, size);
}
