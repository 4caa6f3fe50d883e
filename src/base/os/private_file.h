/* Files that the processes of one user share: opened for reading and writing, locked, touched,
 * removed. A file of another user is refused, because anyone may create files in some folders. */
#ifndef RECMAP_BASE_OS_PRIVATE_FILE_H
#define RECMAP_BASE_OS_PRIVATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/status.h>

/* Creates the folder, for this user only, unless it exists. Its parent must exist. */
recmap_status private_make_folder(const char *path, recmap_error *error);

/* Opens a regular file of this user that has no other name; with `creates`, creates it if it is
 * missing. Symbolic links are not followed. */
recmap_status private_open(int *fd, const char *path, bool creates, recmap_error *error);

enum private_lock_kind {
    PRIVATE_SHARED,
    PRIVATE_EXCLUSIVE,
    PRIVATE_TRY_EXCLUSIVE, /* does not wait */
};

/* Locks the open file (flock), or changes its lock. Closing the file releases the lock, but a lock
 * that a child process inherited lasts until the child has also ended. `is_held` is false only if
 * TRY found another lock; a lock held before is lost then. */
recmap_status private_lock(bool *is_held, int fd, enum private_lock_kind kind, const char *path,
                           recmap_error *error);

/* Releases the lock, also if a child process inherited the file. Failure is not reported: closing
 * the file is the other way to release it. */
void private_unlock(int fd);

/* Locks the byte at `offset` of an open file, which need not exist, for this opening of the file,
 * without waiting. `is_held` is false if another opening has locked it. Closing all descriptors of
 * the opening releases the lock; a child process inherits them. Errors: IO. */
recmap_status private_lock_byte(bool *is_held, int fd, uint64_t offset, recmap_error *error);
void private_unlock_byte(int fd, uint64_t offset);

struct private_stat {
    uint64_t allocated; /* bytes on the disk; of a sparse file fewer than its size */
    int64_t used_ns;    /* the time of modification, which private_touch sets */
};

/* Returns false if the file cannot be examined. */
bool private_stat_path(struct private_stat *stat, const char *path);

/* Sets the time of modification. Returns false if that fails. */
bool private_touch(const char *path, int64_t time_ns);

/* Returns whether the name is gone. */
bool private_remove(const char *path);

/* The space of the file system that has the folder, for users without privileges. */
bool private_find_space(uint64_t *available, uint64_t *total, const char *folder);

/* The time of day, in ns since 1970. */
int64_t private_now_ns(void);

#endif
