#include "base/os/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* ---- The size of the memory. */

/* The number that a file contains, or UINT64_MAX if it contains none ("max") or does not exist. */
static uint64_t read_limit(const char *path) {
    char text[32], *end = text;
    uint64_t limit = 0;
    FILE *file = fopen(path, "re");
    if (!file) return UINT64_MAX;
    if (fgets(text, sizeof text, file)) limit = strtoull(text, &end, 10);
    fclose(file);
    return end == text ? UINT64_MAX : limit;
}

/* Where the limits of control groups are. */
struct group_tree {
    const char *controller; /* as /proc/self/cgroup names it */
    const char *root;
    const char *file;
};

/* Version 2 has one tree for everything, version 1 one for each controller. */
static const struct group_tree group_trees[] = {
    {"", "/sys/fs/cgroup", "memory.max"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"}};

/* The lowest limit of a control group and the groups that contain it. In a container, the root is
 * the container's own group. */
static uint64_t group_limit(const struct group_tree *tree, char *group) {
    uint64_t lowest = UINT64_MAX;
    for (;;) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s%s/%s", tree->root, group, tree->file);
        uint64_t limit = read_limit(path);
        if (limit < lowest) lowest = limit;
        char *last = strrchr(group, '/');
        if (!last) return lowest;
        *last = 0;
    }
}

/* The limit of the group in a line of /proc/self/cgroup, which is ID:CONTROLLERS:/PATH. */
static uint64_t line_limit(char *line) {
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(++controllers, ':') : NULL;
    if (!group) return UINT64_MAX;
    *group++ = 0;
    for (size_t i = 0; i < sizeof group_trees / sizeof *group_trees; i++)
        if (!strcmp(controllers, group_trees[i].controller))
            return group_limit(&group_trees[i], group);
    return UINT64_MAX;
}

/* The limit of this process's control groups, or UINT64_MAX. */
static uint64_t own_group_limit(void) {
    char line[PATH_MAX];
    uint64_t lowest = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return lowest;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        uint64_t limit = line_limit(line);
        if (limit < lowest) lowest = limit;
    }
    fclose(file);
    return lowest;
}

static _Atomic uint64_t forced_size;

void memory_force_size(uint64_t size) {
    atomic_store(&forced_size, size);
}

uint64_t memory_size(void) {
    int saved = errno;
    uint64_t forced = atomic_load(&forced_size), limit = own_group_limit();
    uint64_t size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    errno = saved;
    if (forced) return forced;
    return limit < size ? limit : size;
}

/* ---- Pages. */

static size_t alignment_of(size_t size) {
    return size > HUGE_PAGE / 2 ? HUGE_PAGE : PAGE;
}

size_t pages_size(size_t size) {
    size_t rest = alignment_of(size) - 1;
    return size > SIZE_MAX - rest ? SIZE_MAX : (size + rest) & ~rest;
}

uint8_t *pages_allocate(size_t size) {
    size_t allocated_size = pages_size(size);
    void *memory;
    int saved = errno;
    if (allocated_size == SIZE_MAX || posix_memalign(&memory, alignment_of(size), allocated_size))
        return NULL;
    if (alignment_of(size) == HUGE_PAGE) madvise(memory, allocated_size, MADV_HUGEPAGE);
    errno = saved;
    return memory;
}
