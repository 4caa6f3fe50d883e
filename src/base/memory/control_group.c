#include "base/memory/control_group.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files of the kernel. */

static _Atomic(const char *) forced_root;

void kernel_file_force_root(const char *folder) {
    atomic_store(&forced_root, folder);
}

FILE *kernel_file_open(const char *path) {
    char forced[2 * PATH_MAX];
    const char *root = atomic_load(&forced_root);
    if (!root) return fopen(path, "re");
    snprintf(forced, sizeof forced, "%s%s", root, path);
    return fopen(forced, "re");
}

/* The number that a file contains, or UINT64_MAX if it contains none ("max") or does not exist. */
static uint64_t read_number(const char *path) {
    char text[32], *end = text;
    uint64_t number = 0;
    FILE *file = kernel_file_open(path);
    if (!file) return UINT64_MAX;
    if (fgets(text, sizeof text, file)) number = strtoull(text, &end, 10);
    fclose(file);
    return end == text ? UINT64_MAX : number;
}

/* ---- Groups. */

/* Where a version of control groups keeps what it knows about memory. */
struct group_tree {
    const char *controller; /* as /proc/self/cgroup names it */
    const char *root;
    const char *limit;
    const char *high; /* above it, the kernel takes memory back; NULL: there is none */
    const char *usage;
    const char *files, *shared, *mapped; /* names in memory.stat, with all groups within */
};

/* Version 2 has one tree for everything, version 1 one for each controller. */
static const struct group_tree group_trees[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.high", "memory.current", "file", "shmem",
     "file_mapped"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
     "total_cache", "total_shmem", "total_mapped_file"}};

/* What is asked of a group; `folder` is in /sys/fs/cgroup. */
typedef uint64_t group_question(const struct group_tree *tree, const char *folder,
                                bool spares_mapped);

static uint64_t read_in(const char *folder, const char *name) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_number(path);
}

static uint64_t find_limit(const struct group_tree *tree, const char *folder, bool spares_mapped) {
    (void)spares_mapped;
    return read_in(folder, tree->limit);
}

/* Takes a number from a line "NAME NUMBER" of that name. */
static void take_value(uint64_t *value, const char *line, const char *name) {
    size_t size = strlen(name);
    if (!strncmp(line, name, size) && line[size] == ' ') *value = strtoull(line + size, NULL, 10);
}

/* The bytes of files that could be removed from memory. */
static uint64_t find_files(const struct group_tree *tree, const char *folder, bool spares_mapped) {
    char path[PATH_MAX + 64], line[128];
    uint64_t files = 0, shared = 0, mapped = 0;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    FILE *file = kernel_file_open(path);
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) {
        take_value(&files, line, tree->files);
        take_value(&shared, line, tree->shared);
        take_value(&mapped, line, tree->mapped);
    }
    fclose(file);
    uint64_t kept = shared + (spares_mapped ? mapped : 0);
    return files > kept ? files - kept : 0;
}

static uint64_t find_file_room(const struct group_tree *tree, const char *folder,
                               bool spares_mapped) {
    uint64_t limit = read_in(folder, tree->limit);
    uint64_t high = tree->high ? read_in(folder, tree->high) : UINT64_MAX;
    if (high < limit) limit = high;
    if (limit == UINT64_MAX) return limit;
    uint64_t usage = read_in(folder, tree->usage), files = find_files(tree, folder, spares_mapped);
    if (usage == UINT64_MAX) usage = 0;
    uint64_t others = usage > files ? usage - files : 0;
    return limit > others ? limit - others : 0;
}

/* The lowest answer of a control group and the groups that contain it. In a container, the root is
 * the container's own group. */
static uint64_t ask_groups(const struct group_tree *tree, char *group, group_question *question,
                           bool spares_mapped) {
    uint64_t lowest = UINT64_MAX;
    for (;;) {
        char folder[PATH_MAX + 32];
        snprintf(folder, sizeof folder, "%s%s", tree->root, group);
        uint64_t answer = question(tree, folder, spares_mapped);
        if (answer < lowest) lowest = answer;
        char *last = strrchr(group, '/');
        if (!last) return lowest;
        *last = 0;
    }
}

/* The answer for the group in a line of /proc/self/cgroup, which is ID:CONTROLLERS:/PATH. */
static uint64_t ask_line(char *line, group_question *question, bool spares_mapped) {
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(++controllers, ':') : NULL;
    if (!group) return UINT64_MAX;
    *group++ = 0;
    for (size_t i = 0; i < sizeof group_trees / sizeof *group_trees; i++)
        if (!strcmp(controllers, group_trees[i].controller))
            return ask_groups(&group_trees[i], group, question, spares_mapped);
    return UINT64_MAX;
}

/* The lowest answer of this process's control groups, or UINT64_MAX. */
static uint64_t ask_own_groups(group_question *question, bool spares_mapped) {
    char line[PATH_MAX];
    uint64_t lowest = UINT64_MAX;
    int saved = errno;
    FILE *file = kernel_file_open("/proc/self/cgroup");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        uint64_t answer = ask_line(line, question, spares_mapped);
        if (answer < lowest) lowest = answer;
    }
    if (file) fclose(file);
    errno = saved;
    return lowest;
}

uint64_t control_group_limit(void) {
    return ask_own_groups(find_limit, false);
}

uint64_t control_group_file_room(bool spares_mapped) {
    return ask_own_groups(find_file_room, spares_mapped);
}
