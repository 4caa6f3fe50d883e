#include "base/os/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/core/error.h"

#define NS_PER_S 1000000000ll

/* Bytes of a block of stat's st_blocks, on every file system. */
enum { STAT_BLOCK = 512 };

recmap_status private_make_folder(const char *path, recmap_error *error) {
    struct stat st;
    if (!mkdir(path, 0700) || (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode)))
        return RECMAP_OK;
    return fail_errno(error, errno, path, "create the folder");
}

/* Where others may create files, a hard link could be another name of a file of this user that has
 * nothing to do with recmap. */
static recmap_status check_owner(int fd, const char *path, recmap_error *error) {
    struct stat st;
    if (fstat(fd, &st)) return fail_errno(error, errno, path, "look at the file");
    bool is_own = S_ISREG(st.st_mode) && st.st_uid == geteuid();
    if (is_own && st.st_nlink <= 1) return RECMAP_OK;
    fail(error, RECMAP_IO,
         is_own ? "has several names (hard links)" : "is not a regular file of this user");
    fail_file(error, path);
    fail_advise(error, "name a folder that only you can write to");
    return RECMAP_IO;
}

recmap_status private_open(int *fd, const char *path, bool creates, recmap_error *error) {
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | (creates ? O_CREAT : 0);
    int opened;
    do opened = open(path, flags, 0600);
    while (opened < 0 && errno == EINTR);
    if (opened < 0) return fail_errno(error, errno, path, "open the file");
    recmap_status status = check_owner(opened, path, error);
    if (status == RECMAP_OK) *fd = opened;
    else close(opened);
    return status;
}

recmap_status private_lock(bool *is_held, int fd, enum private_lock_kind kind, const char *path,
                           recmap_error *error) {
    int operation = kind == PRIVATE_SHARED      ? LOCK_SH
                    : kind == PRIVATE_EXCLUSIVE ? LOCK_EX
                                                : LOCK_EX | LOCK_NB;
    int result;
    do result = flock(fd, operation);
    while (result && errno == EINTR);
    *is_held = !result;
    if (*is_held || errno == EWOULDBLOCK) return RECMAP_OK;
    return fail_errno(error, errno, path, "lock the file");
}

void private_unlock(int fd) {
    int result;
    do result = flock(fd, LOCK_UN);
    while (result && errno == EINTR);
}

static int set_byte_lock(int fd, uint64_t offset, short type) {
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = 1};
    int result;
    do result = fcntl(fd, F_OFD_SETLK, &lock);
    while (result && errno == EINTR);
    return result;
}

recmap_status private_lock_byte(bool *is_held, int fd, uint64_t offset, recmap_error *error) {
    *is_held = !set_byte_lock(fd, offset, F_WRLCK);
    if (*is_held || errno == EAGAIN || errno == EACCES) return RECMAP_OK;
    return fail_errno(error, errno, "", "lock a byte of the file");
}

void private_unlock_byte(int fd, uint64_t offset) {
    (void)set_byte_lock(fd, offset, F_UNLCK); /* closing the file is the other way */
}

bool private_stat_path(struct private_stat *stat, const char *path) {
    struct stat st;
    if (lstat(path, &st) || !S_ISREG(st.st_mode)) return false;
    *stat = (struct private_stat){.allocated = (uint64_t)st.st_blocks * STAT_BLOCK,
                                  .used_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S +
                                             st.st_mtim.tv_nsec};
    return true;
}

bool private_touch(const char *path, int64_t time_ns) {
    struct timespec time = {.tv_sec = time_ns / NS_PER_S, .tv_nsec = time_ns % NS_PER_S};
    return !utimensat(AT_FDCWD, path, (struct timespec[]){time, time}, AT_SYMLINK_NOFOLLOW);
}

bool private_remove(const char *path) {
    return !unlink(path) || errno == ENOENT;
}

bool private_find_space(uint64_t *available, uint64_t *total, const char *folder) {
    struct statvfs space;
    if (statvfs(folder, &space)) return false;
    *available = (uint64_t)space.f_bavail * space.f_frsize;
    *total = (uint64_t)space.f_blocks * space.f_frsize;
    return true;
}

int64_t private_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}
