/* A lock between the writers of one file that readers cannot take. */
#ifndef RECMAP_BASE_OS_LOCK_FILE_H
#define RECMAP_BASE_OS_LOCK_FILE_H

#include <stdbool.h>

#include <recmap/status.h>

/* The lock is held (`flock`) on an empty file TARGET.lock, which exists while a writer holds or
 * awaits the lock. Locking the target itself would not do: whoever may read a file may lock it. The
 * lock file can be opened only by users who may write to its folder, and so may replace the target.
 * If a writer dies, the file stays without a lock, and the next writer uses and removes it. */
struct lock_file {
    int fd; /* -1 if the lock is not held */
    char *path;
    long process; /* its owner; after fork, the child's copy of this struct leaves the file alone */
};

#define LOCK_FILE_INIT                                                                             \
    { -1, NULL, 0 }

/* Takes the lock of `target`. If another writer holds it, sets `is_held` to false and returns
 * RECMAP_OK. */
recmap_status lock_file_try(struct lock_file *lock, bool *is_held, const char *target,
                            recmap_error *error);

/* Sleeps for 50 ms, or until a signal handler has run: the time between two attempts. */
void lock_file_pause(void);

/* Removes the lock file and releases the lock, if it is held. */
void lock_file_release(struct lock_file *lock);

/* Locks the folder of `target` from the last look at the file of that name until another one takes
 * its place, so that nobody replaces it in between. All who publish an index do so, also those who
 * hold no lock file. Sets a descriptor for folder_unlock. It is -1 if the folder cannot be locked,
 * as on some network file systems, or if somebody else holds the lock for seconds, which no
 * publishing takes: then the file is published all the same. Fails if trying again may help, as
 * without descriptors or memory. */
recmap_status folder_lock(int *descriptor, const char *target, recmap_error *error);
void folder_unlock(int descriptor);

#endif
