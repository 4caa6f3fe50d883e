/* A lock on a part of a cache's file, so that of several processes that need the part, one gets its
 * bytes while the others wait for them. It only saves work: whoever has waited for long, or cannot
 * lock, gets the bytes as well. */
#ifndef RECMAP_STORAGE_CACHE_FILL_LOCK_H
#define RECMAP_STORAGE_CACHE_FILL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct fill_lock {
    int fd; /* -1: the part is not locked */
    uint64_t offset;
};

/* Locks the part that begins at `offset` of the file, or returns without the lock after ten
 * seconds: a process that was stopped may hold it, or a child of one that was killed. Returns false
 * if the thread's interrupt says to stop. */
bool fill_lock_acquire(struct fill_lock *lock, const char *path, uint64_t offset);
void fill_lock_release(struct fill_lock *lock);

#endif
