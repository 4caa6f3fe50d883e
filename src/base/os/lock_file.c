#include "base/os/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "base/os/process.h"

/* O_NONBLOCK keeps the open of a FIFO from waiting for a reader. */
#define LOCK_FLAGS (O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

enum { OWNER_WRITES = 0200, ALL_WRITE = 0222 };

static int open_retry(const char *path, int flags) {
    int fd;
    do fd = open(path, flags, OWNER_WRITES);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Gives a new lock file the write permissions of its folder, so that all users who may replace the
 * target can take the lock. If that fails, only its owner can. */
static void allow_writers(int fd, const char *path) {
    struct stat st;
    char *folder = path_folder(path);
    if (folder && !stat(folder, &st))
        if (fchmod(fd, (st.st_mode & ALL_WRITE) | OWNER_WRITES)) errno = 0;
    free(folder);
}

static bool is_denied(int code) {
    return code == EACCES || code == EPERM || code == EROFS;
}

static void advise_folder(recmap_error *error) {
    fail_advise(error, "an index is changed in its own folder, which must be writable");
}

/* The error of a lock file that does not exist and cannot be created. */
static recmap_status fail_create(int code, const char *path, recmap_error *error) {
    if (!is_denied(code)) return fail_errno(error, code, path, "create the lock file");
    fail_errno(error, code, path, "create the lock file in this folder");
    advise_folder(error);
    return RECMAP_IO;
}

/* The error of a lock file that exists and cannot be opened. */
static recmap_status fail_open(int code, const char *path, recmap_error *error) {
    fail_errno(error, code, path, "open the lock file");
    if (code == EROFS) advise_folder(error);
    else if (is_denied(code))
        fail_advise(error, "another user is appending: wait, then append again");
    return RECMAP_IO;
}

/* Opens the lock file, or creates it. `*fd` stays -1 if the file vanished between the two. */
static recmap_status open_or_create(int *fd, const char *path, recmap_error *error) {
    *fd = open_retry(path, LOCK_FLAGS | O_CREAT | O_EXCL);
    if (*fd >= 0) {
        allow_writers(*fd, path);
        return RECMAP_OK;
    }
    if (errno != EEXIST) return fail_create(errno, path, error);
    *fd = open_retry(path, LOCK_FLAGS);
    return *fd >= 0 || errno == ENOENT ? RECMAP_OK : fail_open(errno, path, error);
}

/* A file of the user's own is neither locked nor removed. */
static recmap_status require_empty(const struct stat *st, const char *path, recmap_error *error) {
    if (S_ISREG(st->st_mode) && !st->st_size) return RECMAP_OK;
    fail(error, RECMAP_IO, "is in the place of a lock file, but is not an empty file");
    fail_file(error, path);
    fail_advise(error, "rename this file, or append to an index of another name");
    return RECMAP_IO;
}

/* Locks the open file without waiting. The previous owner may have removed the file after it was
 * opened here. A lock on a file without a name excludes nobody, so `is_named` tells whether the
 * locked file still has its name. */
static recmap_status lock_open_file(bool *is_held, bool *is_named, int fd, const char *path,
                                    recmap_error *error) {
    struct stat ours;
    *is_held = false;
    *is_named = true;
    if (fstat(fd, &ours)) return fail_errno(error, errno, path, "look at the lock file");
    RETURN_IF_FAILED(require_empty(&ours, path, error));
    int result;
    do result = flock(fd, LOCK_EX | LOCK_NB);
    while (result && errno == EINTR);
    if (result && errno == EWOULDBLOCK) return RECMAP_OK;
    if (result) return fail_errno(error, errno, path, "lock the file");
    int error_number = file_has_name(is_named, fd, path);
    if (error_number) return fail_errno(error, error_number, path, "look at the lock file");
    *is_held = *is_named;
    return RECMAP_OK;
}

static char *lock_path(const char *target) {
    size_t size = strlen(target) + sizeof ".lock";
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s.lock", target);
    return path;
}

/* Retries while other writers remove the file between its opening and its locking. */
static recmap_status lock_path_try(int *fd, const char *path, recmap_error *error) {
    bool is_held = false, is_named = false;
    while (!is_named) {
        int opened;
        RETURN_IF_FAILED(open_or_create(&opened, path, error));
        if (opened < 0) continue;
        recmap_status status = lock_open_file(&is_held, &is_named, opened, path, error);
        if (is_held) *fd = opened;
        else close(opened);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

recmap_status lock_file_try(struct lock_file *lock, bool *is_held, const char *target,
                            recmap_error *error) {
    *lock = (struct lock_file){-1, lock_path(target), process_id()};
    if (!lock->path) return fail_memory(error);
    recmap_status status = lock_path_try(&lock->fd, lock->path, error);
    *is_held = lock->fd >= 0;
    if (!*is_held) lock_file_release(lock);
    return status;
}

void lock_file_pause(void) {
    sleep_ns(50 * 1000 * 1000);
}

/* The name is removed first: once the lock is released, it may belong to the next writer. */
void lock_file_release(struct lock_file *lock) {
    if (lock->fd >= 0 && lock->process == process_id()) unlink(lock->path);
    file_close(lock->fd);
    free(lock->path);
    *lock = (struct lock_file)LOCK_FILE_INIT;
}

static int open_folder(const char *path) {
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Waits for the lock, but not forever. Returns false and sets errno without it. */
static bool wait_for_lock(int fd) {
    enum { PAUSE_NS = 1000 * 1000 };
    const uint64_t limit_ns = UINT64_C(10) * 1000 * 1000 * 1000;
    uint64_t until_ns = clock_ns() + limit_ns;
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        bool may_wait = errno == EINTR || (errno == EWOULDBLOCK && clock_ns() < until_ns);
        if (!may_wait) return false;
        sleep_ns(PAUSE_NS);
    }
    return true;
}

/* Errors of a disk, and of a process or machine that lacks something for the moment. Others are
 * answers of a file system that does not lock its folders, or not for this user. */
static bool may_pass(int code) {
    return code == EIO || code == ENOLCK || code == ENOMEM || code == EMFILE || code == ENFILE;
}

static recmap_status fail_lock(int code, const char *folder, recmap_error *error) {
    fail_errno(error, code, folder, "lock the folder, to publish an index there");
    fail_advise(error, "nothing was replaced: try again");
    return RECMAP_IO;
}

recmap_status folder_lock(int *descriptor, const char *target, recmap_error *error) {
    char *folder = path_folder(target);
    if (!folder) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    int fd = open_folder(folder);
    if (fd < 0 || !wait_for_lock(fd)) {
        int code = errno;
        file_close(fd);
        fd = -1;
        if (may_pass(code)) status = fail_lock(code, folder, error);
    }
    *descriptor = fd;
    free(folder);
    return status;
}

void folder_unlock(int descriptor) {
    file_close(descriptor);
}
