#include "output/partial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char infix[] = ".tmp-";

enum { INFIX_SIZE = sizeof infix - 1, DIGIT_COUNT = 16 };

/* The temporary files in the folder that was listed last. A command that writes many files lists
 * their folder once. */
static struct {
    char *folder;
    char **names;
    size_t count;
} listed;

/* Returns the size of the target's name if partial_create could have named the file so, else 0. */
static size_t target_name_size(const char *name) {
    size_t size = strlen(name), end_size = INFIX_SIZE + DIGIT_COUNT;
    if (size <= end_size) return 0;
    const char *end = name + size - end_size;
    bool is_partial = !strncmp(end, infix, INFIX_SIZE) &&
                      strspn(end + INFIX_SIZE, "0123456789abcdef") == DIGIT_COUNT;
    return is_partial ? size - end_size : 0;
}

static void add_name(const char *name) {
    char **names = realloc(listed.names, (listed.count + 1) * sizeof *names);
    if (!names) return;
    listed.names = names;
    names[listed.count] = strdup(name);
    listed.count += names[listed.count] != NULL;
}

/* Takes ownership of `folder`. */
static void list_folder(char *folder) {
    while (listed.count) free(listed.names[--listed.count]);
    free(listed.folder);
    listed.folder = folder;
    DIR *stream = opendir(folder);
    struct dirent *entry;
    while (stream && (entry = readdir(stream)))
        if (target_name_size(entry->d_name)) add_name(entry->d_name);
    if (stream) closedir(stream);
}

/* Removes `folder/name` if no process holds its lock. */
static void remove_if_abandoned(int folder, const char *name) {
    int flags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
    /* Network file systems can lock a file only if it is open for writing. */
    int fd = openat(folder, name, O_RDWR | flags);
    if (fd < 0) fd = openat(folder, name, O_RDONLY | flags);
    if (fd < 0) return;
    struct stat st;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
        unlinkat(folder, name, 0);
    close(fd);
}

static void remove_abandoned(const char *target) {
    const char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    size_t size = strlen(name);
    char *path = slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");
    if (!path) return;
    if (!listed.folder || strcmp(listed.folder, path) != 0) list_folder(path);
    else free(path);
    int folder = listed.count ? open(listed.folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0) return;
    for (size_t i = 0; i < listed.count; i++)
        if (target_name_size(listed.names[i]) == size && !strncmp(listed.names[i], name, size))
            remove_if_abandoned(folder, listed.names[i]);
    close(folder);
}

static char *make_path(const char *target) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&random;
    size_t size = strlen(target) + INFIX_SIZE + DIGIT_COUNT + 1;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%0*" PRIx64, target, infix, DIGIT_COUNT, random);
    return path;
}

/* Locks a file that was just created. Before the lock is taken, another process may find the file
 * unlocked, treat it as abandoned and remove it; returns false in that case. On a file system
 * without locks nobody can take one to remove a file, so failing to lock is not an error. */
static bool lock(int fd) {
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB)) return errno != EWOULDBLOCK;
    return fstat(fd, &st) || st.st_nlink > 0;
}

/* Tries once. *has_vanished is set if another process removed the file: the caller must try again.
 */
static int create_once(const char *path, mode_t mode, bool *has_vanished) {
    *has_vanished = false;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return -1;
    *has_vanished = !lock(fd);
    if (!*has_vanished && !fchmod(fd, mode)) return fd;
    int saved = errno;
    if (!*has_vanished) unlink(path);
    close(fd);
    errno = saved;
    return -1;
}

int partial_create(char **path, const char *target, mode_t mode) {
    remove_abandoned(target);
    for (;;) {
        char *temporary = make_path(target);
        if (!temporary) return -1;
        bool has_vanished;
        int fd = create_once(temporary, mode, &has_vanished);
        if (fd >= 0) {
            *path = temporary;
            return fd;
        }
        free(temporary);
        if (!has_vanished) return -1;
    }
}
