#include "base/os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/process.h"
#include "base/words/url_prefix.h"

/* O_NONBLOCK keeps the open of a FIFO from waiting for a writer. It has no effect on regular files.
 */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* O_PATH needs no permission to list the folder, just like opening a file by its full path. */
#define FOLDER_FLAGS (O_PATH | O_CLOEXEC | O_DIRECTORY)

static int open_retry(int folder, const char *path, int flags, mode_t mode) {
    int fd;
    do fd = openat(folder, path, flags, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static const char *kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

static recmap_status require_regular(int fd, const char *path, recmap_error *error) {
    struct stat st;
    if (fstat(fd, &st)) return fail_errno(error, errno, path, "look at the file");
    if (S_ISREG(st.st_mode)) return RECMAP_OK;
    fail(error, RECMAP_IO, "is %s, not a regular file", kind_of(st.st_mode));
    fail_file(error, path);
    fail_advise(error, S_ISDIR(st.st_mode)
                           ? "name a file in it, such as its index (NAME.rmx); if it has none "
                             "yet, index the folder first"
                           : "name a regular file");
    return RECMAP_IO;
}

static recmap_status keep_regular(int *fd, int opened, const char *path, recmap_error *error) {
    if (opened < 0) return fail_errno(error, errno, path, "open the file");
    recmap_status status = require_regular(opened, path, error);
    if (status != RECMAP_OK) close(opened);
    else *fd = opened;
    return status;
}

recmap_status file_open(int *fd, const char *path, recmap_error *error) {
    return keep_regular(fd, open_retry(AT_FDCWD, path, OPEN_FLAGS, 0), path, error);
}

static bool component_is_plain(const char *name, size_t size) {
    return size > 0 && !(size == 1 && name[0] == '.') &&
           !(size == 2 && name[0] == '.' && name[1] == '.') && size <= NAME_MAX;
}

static recmap_status fail_outside(recmap_error *error, const char *path) {
    fail(error, RECMAP_CORRUPT,
         "the index names a shard outside its own folder, or in a folder that is a symbolic link");
    fail_file(error, path);
    fail_advise(error, "do not trust this index; build it again with `recmap index`");
    return RECMAP_CORRUPT;
}

static recmap_status fail_link(recmap_error *error, const char *path) {
    fail(error, RECMAP_INVALID,
         "this symbolic link was made by another user, and leads to a file of somebody else");
    fail_file(error, path);
    fail_advise(error, "if you trust the folder, open the index with allow_absolute_paths");
    return RECMAP_INVALID;
}

/* Reads where the link leads. Sets `owner` to the owner of the very link that was read: another one
 * may take its place at any time. Returns an errno, or 0. */
static int read_link(char target[PATH_MAX], uid_t *owner, int folder, const char *name) {
    struct stat st;
    int link = open_retry(folder, name, O_PATH | O_CLOEXEC | O_NOFOLLOW, 0);
    if (link < 0) return errno;
    ssize_t size = fstat(link, &st) ? -1 : readlinkat(link, "", target, PATH_MAX - 1);
    int code = size < 0 ? errno : 0;
    close(link);
    if (code) return code;
    target[size] = 0;
    *owner = st.st_uid;
    return 0;
}

/* Opens the file that a link in the folder leads to. */
static recmap_status open_linked(int *fd, int folder, const char *name, bool allows_all_links,
                                 const char *path, recmap_error *error) {
    char target[PATH_MAX];
    uid_t owner = 0;
    struct stat st;
    int code = read_link(target, &owner, folder, name), opened;
    if (code) return fail_errno(error, code, path, "read the link");
    RETURN_IF_FAILED(keep_regular(&opened, open_retry(folder, target, OPEN_FLAGS, 0), path, error));
    bool is_known = !fstat(opened, &st);
    if (allows_all_links || owner == 0 || owner == geteuid() || (is_known && owner == st.st_uid)) {
        *fd = opened;
        return RECMAP_OK;
    }
    close(opened);
    return fail_link(error, path);
}

/* Opens `name` one component at a time with O_NOFOLLOW, because openat follows links in all
 * components but the last. */
recmap_status file_open_beneath(int *fd, const char *root, const char *name, bool allows_all_links,
                                const char *path, recmap_error *error) {
    int folder = open_retry(AT_FDCWD, root, FOLDER_FLAGS, 0);
    if (folder < 0) return fail_errno(error, errno, root, "open the folder");
    const char *part = name;
    for (;;) {
        const char *slash = strchr(part, '/');
        size_t size = slash ? (size_t)(slash - part) : strlen(part);
        if (!component_is_plain(part, size)) {
            close(folder);
            return fail_outside(error, path);
        }
        char component[NAME_MAX + 1];
        memcpy(component, part, size);
        component[size] = 0;
        int flags = slash ? FOLDER_FLAGS : OPEN_FLAGS;
        int next = open_retry(folder, component, flags | O_NOFOLLOW, 0), code = errno;
        if (next < 0 && !slash && code == ELOOP) {
            recmap_status status =
                open_linked(fd, folder, component, allows_all_links, path, error);
            close(folder);
            return status;
        }
        close(folder);
        /* keep_regular reports errno, which close may have changed. */
        errno = code;
        if (next < 0 && slash && (code == ELOOP || code == ENOTDIR))
            return fail_outside(error, path);
        if (next < 0 || !slash) return keep_regular(fd, next, path, error);
        folder = next;
        part = slash + 1;
    }
}

static void stat_to_file_stat(struct file_stat *file_stat, const struct stat *st) {
    *file_stat = (struct file_stat){.device = (uint64_t)st->st_dev,
                                    .inode = (uint64_t)st->st_ino,
                                    .size = (uint64_t)st->st_size,
                                    .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 +
                                                st->st_mtim.tv_nsec,
                                    .mode = (uint32_t)st->st_mode,
                                    .group = (uint32_t)st->st_gid};
}

recmap_status file_get_stat(struct file_stat *file_stat, int fd, const char *path,
                            recmap_error *error) {
    struct stat st;
    if (fstat(fd, &st)) return fail_errno(error, errno, path, "look at the file");
    stat_to_file_stat(file_stat, &st);
    return RECMAP_OK;
}

bool file_is_same(const struct file_stat *a, const struct file_stat *b) {
    return a->device == b->device && a->inode == b->inode;
}

bool file_is_unchanged(const struct file_stat *a, const struct file_stat *b) {
    return file_is_same(a, b) && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

int file_has_name(bool *is_named, int fd, const char *path) {
    struct stat st;
    struct file_stat ours, named;
    if (fstat(fd, &st)) return errno;
    stat_to_file_stat(&ours, &st);
    *is_named = false;
    if (lstat(path, &st)) return errno == ENOENT ? 0 : errno;
    stat_to_file_stat(&named, &st);
    *is_named = file_is_same(&ours, &named);
    return 0;
}

bool file_stat_path(struct file_stat *file_stat, const char *path) {
    struct stat st;
    if (stat(path, &st)) return false;
    stat_to_file_stat(file_stat, &st);
    return true;
}

recmap_status file_find_stat(struct file_stat *file_stat, bool *is_there, const char *path,
                             recmap_error *error) {
    *is_there = file_stat_path(file_stat, path);
    if (*is_there || errno == ENOENT || errno == ENOTDIR) return RECMAP_OK;
    return fail_errno(error, errno, path, "look at the file");
}

void file_close(int fd) {
    if (fd >= 0) close(fd);
}

/* Repeats pread until all bytes have arrived, since it may return fewer than requested. Every error
 * gets the offset that it occurred at. */
recmap_status file_read_at(int fd, void *data, size_t size, uint64_t offset, const char *path,
                           recmap_error *error) {
    uint8_t *cursor = data;
    while (size) {
        ssize_t n = pread(fd, cursor, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (n < 0) {
                fail_errno(error, errno, path, "read the file");
            } else {
                fail(error, RECMAP_IO, "the file ends here, %zu byte%s too early", size,
                     plural(size));
                fail_advise(error, "the file was truncated: restore the complete file");
            }
            fail_at(error, path, RECMAP_NO_RECORD, offset);
            return RECMAP_IO;
        }
        cursor += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return RECMAP_OK;
}

void file_will_need(int fd, uint64_t offset, uint64_t size) {
    /* To posix_fadvise, size 0 means everything up to the end of the file. */
    if (!size) return;
    posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

void file_expect_random(int fd) {
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}

/* Returns the alignment that the file system requires, or 0 if it cannot read directly. If it does
 * not say, 4096 is always sufficient. */
static uint32_t direct_alignment(int fd) {
    enum { ENOUGH = 4096 };
#ifdef STATX_DIOALIGN
    struct statx attributes;
    if (!statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &attributes) &&
        (attributes.stx_mask & STATX_DIOALIGN)) {
        uint32_t larger = attributes.stx_dio_mem_align > attributes.stx_dio_offset_align
                              ? attributes.stx_dio_mem_align
                              : attributes.stx_dio_offset_align;
        bool is_possible = attributes.stx_dio_offset_align && larger <= ENOUGH;
        return is_possible && !(larger & (larger - 1)) ? larger : 0;
    }
#endif
    return ENOUGH;
}

bool file_pass_cache(uint32_t *alignment, int fd) {
    int saved = errno;
    uint32_t required = direct_alignment(fd);
    int flags = required ? fcntl(fd, F_GETFL) : -1;
    bool passes = flags >= 0 && !fcntl(fd, F_SETFL, flags | O_DIRECT);
    errno = saved;
    if (passes) *alignment = required;
    return passes;
}

/* RWF_NOWAIT fails with EAGAIN if the read would have to wait for a device. */
static bool byte_is_resident(int fd, uint64_t offset) {
    char byte;
    struct iovec there = {&byte, 1};
    return preadv2(fd, &there, 1, (off_t)offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

bool file_is_resident(int fd, uint64_t offset, uint64_t size) {
    int saved = errno;
    bool is_resident = !size ||
                       (byte_is_resident(fd, offset) && byte_is_resident(fd, offset + size - 1));
    errno = saved;
    return is_resident;
}

recmap_status file_write_at(int fd, const void *data, size_t size, uint64_t offset,
                            const char *path, recmap_error *error) {
    const uint8_t *cursor = data;
    while (size) {
        ssize_t n = pwrite(fd, cursor, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            fail_errno(error, n ? errno : ENOSPC, path, "write the file");
            fail_at(error, path, RECMAP_NO_RECORD, offset);
            return RECMAP_IO;
        }
        cursor += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return RECMAP_OK;
}

recmap_status file_resize(int fd, uint64_t size, const char *path, recmap_error *error) {
    int result;
    do result = ftruncate(fd, (off_t)size);
    while (result && errno == EINTR);
    return result ? fail_errno(error, errno, path, "resize the file") : RECMAP_OK;
}

recmap_status file_reserve(int fd, uint64_t size, const char *path, recmap_error *error) {
    int code;
    do code = posix_fallocate(fd, 0, (off_t)size);
    while (code == EINTR);
    return code ? fail_errno(error, code, path, "reserve space for the file") : RECMAP_OK;
}

/* Retries only if a signal interrupted the sync. After any other failure, a second fsync may report
 * success for pages that the kernel dropped when the first one failed. */
static int sync_retry(int fd) {
    int result;
    do result = fsync(fd);
    while (result && errno == EINTR);
    return result;
}

recmap_status file_sync(int fd, const char *path, recmap_error *error) {
    return sync_retry(fd) ? fail_errno(error, errno, path, "sync the file") : RECMAP_OK;
}

/* Opens the folder of `target`, to sync it after a rename. */
static recmap_status folder_open(int *fd, const char *target, recmap_error *error) {
    char *folder = path_folder(target);
    if (!folder) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    *fd = open_retry(AT_FDCWD, folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
    if (*fd < 0) status = fail_errno(error, errno, folder, "open the folder");
    free(folder);
    return status;
}

static int lock_retry(int fd, int operation) {
    int result;
    do result = flock(fd, operation);
    while (result && errno == EINTR);
    return result;
}

static const char temporary_infix[] = ".tmp-";

enum { INFIX_SIZE = sizeof temporary_infix - 1, RANDOM_DIGITS = 16 };

/* Any other file belongs to somebody else, however similar its name. */
size_t temporary_target_size(const char *name) {
    size_t size = strlen(name), end_size = INFIX_SIZE + RANDOM_DIGITS;
    if (size <= end_size) return 0;
    const char *end = name + size - end_size;
    bool is_temporary = !strncmp(end, temporary_infix, INFIX_SIZE) &&
                        strspn(end + INFIX_SIZE, "0123456789abcdef") == RANDOM_DIGITS;
    return is_temporary ? size - end_size : 0;
}

/* Removes the regular file `folder/name` if no living writer holds its lock. Network file systems
 * lock a file for writing only if it is open for writing. */
static void remove_if_dead(int folder, const char *name) {
    int flags = (OPEN_FLAGS & ~O_ACCMODE) | O_NOFOLLOW;
    int fd = open_retry(folder, name, flags | O_RDWR, 0);
    if (fd < 0) fd = open_retry(folder, name, flags | O_RDONLY, 0);
    if (fd < 0) return;
    struct stat st;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !lock_retry(fd, LOCK_EX | LOCK_NB))
        unlinkat(folder, name, 0);
    close(fd);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(path_name(*(const char *const *)a), path_name(*(const char *const *)b));
}

/* Orders the text before the size of the key, which is not terminated, and the name of a target. */
struct name_key {
    const char *name;
    size_t size;
};

static int compare_key(const void *key, const void *target) {
    const struct name_key *name = key;
    const char *other = path_name(*(const char *const *)target);
    int order = strncmp(name->name, other, name->size);
    return order ? order : other[name->size] ? -1 : 0;
}

/* A writer that died left its temporary file, but its lock is gone. The targets are in one folder,
 * and sorted by name. */
static void remove_from_folder(const char *const *targets, size_t count) {
    char *folder_path = path_folder(targets[0]);
    DIR *folder = folder_path ? opendir(folder_path) : NULL;
    free(folder_path);
    if (!folder) return;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        struct name_key key = {entry->d_name, temporary_target_size(entry->d_name)};
        if (key.size && bsearch(&key, targets, count, sizeof *targets, compare_key))
            remove_if_dead(dirfd(folder), entry->d_name);
    }
    closedir(folder);
}

static bool is_same_folder(const char *a, const char *b) {
    size_t size = (size_t)(path_name(a) - a);
    return size == (size_t)(path_name(b) - b) && !strncmp(a, b, size);
}

void temporary_remove_leftovers(const char *const *targets, size_t count) {
    const char **sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return;
    for (size_t i = 0; i < count; i++) sorted[i] = targets[i];
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (!is_same_folder(targets[first], targets[end])) break;
        qsort(sorted + first, end - first, sizeof *sorted, compare_names);
        remove_from_folder(sorted + first, end - first);
    }
    free(sorted);
}

static char *temporary_path(const char *target) {
    uint64_t random = random_bits();
    size_t size = strlen(target) + INFIX_SIZE + RANDOM_DIGITS + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%0*" PRIx64, target, temporary_infix, (int)RANDOM_DIGITS, random);
    return path;
}

static bool has_index_name(const char *path) {
    size_t size = strlen(path);
    return size >= 4 && !strcmp(path + size - 4, ".rmx");
}

/* The error of a file that cannot be created. Where permission is missing, the folder of the target
 * is the cause, and the temporary name would only confuse. Only an index has an option that names
 * it and a default path that a caller may not know. */
static recmap_status fail_create(recmap_error *error, int code, const char *path,
                                 const char *target) {
    if (code != EACCES && code != EPERM && code != EROFS)
        return fail_errno(error, code, path, "create the file");
    fail_errno(error, code, target, "create a file in this folder");
    fail_advise(error, "write to another folder%s", has_index_name(target) ? " (-o NAME.rmx)" : "");
    return RECMAP_IO;
}

/* Creates a file and locks it. Another process may run between the two steps, find the file without
 * a lock, conclude that its writer is dead, and remove it. Both outcomes are visible here: either
 * the other process holds the lock at this moment, or the file has lost its name. `has_vanished`
 * tells the caller to retry. */
static recmap_status create_locked(int *locked_fd, const char *path, const char *target,
                                   mode_t mode, bool *has_vanished, recmap_error *error) {
    int fd = open_retry(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return fail_create(error, errno, path, target);
    struct stat st;
    int failed = lock_retry(fd, LOCK_EX | LOCK_NB);
    /* The holder of the lock is about to remove the file. */
    *has_vanished = failed && errno == EWOULDBLOCK;
    if (!failed) failed = fstat(fd, &st);
    if (failed && !*has_vanished) {
        int saved = errno;
        unlink(path);
        close(fd);
        return fail_errno(error, saved, path, "lock the file");
    }
    if (!failed) *has_vanished = st.st_nlink == 0;
    if (*has_vanished) close(fd);
    else *locked_fd = fd;
    return RECMAP_OK;
}

/* Sets `*mode` to the permissions of a regular file at `target`; returns false if there is none. */
static bool find_mode(mode_t *mode, const char *target) {
    struct stat st;
    if (stat(target, &st) || !S_ISREG(st.st_mode)) return false;
    *mode = st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    return true;
}

/* The file is for its owner only until it is published. Returns the permissions that a new file
 * gets, which depend on the umask; if they cannot be found out, only the owner's. */
static uint32_t make_private(int fd) {
    struct stat st;
    if (fstat(fd, &st)) return 0600;
    /* On a file system without permissions this fails, and changes nothing. */
    (void)!fchmod(fd, 0600);
    return (uint32_t)st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
}

/* Retries under a new random name until the file is both locked and still there (see
 * create_locked). */
recmap_status temporary_create(struct temporary_file *file, const char *target,
                               enum temporary_leftovers leftovers, recmap_error *error) {
    if (leftovers == LEFTOVERS_REMOVE) temporary_remove_leftovers(&target, 1);
    for (;;) {
        char *path = temporary_path(target);
        if (!path) return fail_memory(error);
        int fd = -1;
        bool has_vanished = false;
        recmap_status status = create_locked(&fd, path, target, 0666, &has_vanished, error);
        if (status == RECMAP_OK && has_vanished) {
            free(path);
            continue;
        }
        char *copy = status == RECMAP_OK ? strdup(target) : NULL;
        if (status == RECMAP_OK && !copy) {
            unlink(path);
            close(fd);
            status = fail_memory(error);
        }
        if (status != RECMAP_OK) {
            free(path);
            return status;
        }
        *file = (struct temporary_file){fd, path, copy, process_id(), make_private(fd), 0};
        return RECMAP_OK;
    }
}

recmap_status temporary_fail_replaced(const char *target, recmap_error *error) {
    fail(error, RECMAP_IO, "somebody replaced the temporary file while it was written");
    fail_file(error, target);
    fail_advise(error, "others may write to this folder: choose a folder of your own with -o");
    return RECMAP_IO;
}

/* Returns true if the path is known to name another file, or none, or a symbolic link. */
static bool has_lost_name(const struct temporary_file *file) {
    bool is_named = true;
    return file_has_name(&is_named, file->fd, file->path) == 0 && !is_named;
}

void temporary_restrict(struct temporary_file *file, const struct file_stat *source) {
    struct stat own;
    if (!source->mode) return;
    bool is_public = source->mode & S_IROTH;
    bool has_group = (source->mode & S_IRGRP) && !fstat(file->fd, &own) &&
                     (uint32_t)own.st_gid == source->group;
    if (!is_public) file->denied |= S_IRWXO;
    if (!is_public && !has_group) file->denied |= S_IRWXG;
}

static mode_t final_mode(bool *replaces, const struct temporary_file *file) {
    mode_t mode;
    *replaces = find_mode(&mode, file->target);
    return (*replaces ? mode : (mode_t)file->mode) & ~(mode_t)file->denied;
}

struct file_stat temporary_final_stat(const struct temporary_file *file,
                                      const struct file_stat *stat) {
    bool replaces;
    struct file_stat result = *stat;
    result.mode = S_IFREG | (uint32_t)final_mode(&replaces, file);
    return result;
}

/* A file that replaces another gets its permissions. A new file that can get no more than its
 * owner's permissions keeps these. */
static recmap_status set_mode(const struct temporary_file *file, recmap_error *error) {
    bool replaces;
    mode_t mode = final_mode(&replaces, file);
    if (!fchmod(file->fd, mode) || !replaces) return RECMAP_OK;
    return fail_errno(error, errno, file->target, "keep the file's permissions");
}

static recmap_status rename_and_sync(struct temporary_file *file, int folder, recmap_error *error) {
    if (has_lost_name(file)) return temporary_fail_replaced(file->target, error);
    if (rename(file->path, file->target))
        return fail_errno(error, errno, file->target, "rename the finished file");
    free(file->path);
    file->path = NULL;
    /* Some network file systems cannot sync a folder and return EINVAL. That is harmless. */
    if (sync_retry(folder) && errno != EINVAL)
        return fail_errno(error, errno, file->target, "sync the folder of the file");
    return RECMAP_OK;
}

recmap_status temporary_publish(struct temporary_file *file, recmap_error *error) {
    int folder = -1;
    /* Open the folder first, so that a failure leaves the old target in place. */
    RETURN_IF_FAILED(folder_open(&folder, file->target, error));
    recmap_status status = set_mode(file, error);
    if (status == RECMAP_OK) status = rename_and_sync(file, folder, error);
    file_close(folder);
    return status;
}

bool temporary_is_own(const struct temporary_file *file) {
    return file->process == process_id();
}

void temporary_discard(struct temporary_file *file) {
    if (file->path && temporary_is_own(file) && !has_lost_name(file)) unlink(file->path);
    file_close(file->fd);
    free(file->path);
    free(file->target);
    *file = (struct temporary_file)TEMPORARY_FILE_INIT;
}

recmap_status file_create_unnamed(int *fd, const char *target, recmap_error *error) {
    char *folder = path_folder(target);
    if (!folder) return fail_memory(error);
    int opened = open_retry(AT_FDCWD, folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    free(folder);
    if (opened >= 0) {
        *fd = opened;
        return RECMAP_OK;
    }
    /* Not every file system supports O_TMPFILE. As a substitute, create a named file and remove the
     * name. */
    struct temporary_file file = TEMPORARY_FILE_INIT;
    RETURN_IF_FAILED(temporary_create(&file, target, LEFTOVERS_REMOVE, error));
    *fd = file.fd;
    file.fd = -1;
    temporary_discard(&file);
    return RECMAP_OK;
}

const char *path_scratch_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : "/var/tmp";
}

recmap_status path_resolve(char **real_path, const char *path, recmap_error *error) {
    char *result = realpath(path, NULL);
    if (!result) return fail_errno(error, errno, path, "resolve the path");
    *real_path = result;
    return RECMAP_OK;
}

recmap_status path_resolve_folder(char **folder, const char *path, recmap_error *error) {
    char *real_path = NULL;
    RETURN_IF_FAILED(path_resolve(&real_path, path, error));
    *folder = path_folder(real_path);
    free(real_path);
    return *folder ? RECMAP_OK : fail_memory(error);
}

recmap_status path_resolve_parent(char **folder, const char *path, recmap_error *error) {
    char *parent = path_folder(path);
    if (!parent) return fail_memory(error);
    recmap_status status = path_resolve(folder, parent, error);
    bool is_missing = status == RECMAP_IO && error && error->system_errno == ENOENT;
    if (is_missing && !url_is_url(path))
        fail_advise(error, "create the folder first, or check the path");
    free(parent);
    return status;
}

recmap_status path_resolve_entry(char **real_path, const char *path, recmap_error *error) {
    char *folder = NULL;
    RETURN_IF_FAILED(path_resolve_parent(&folder, path, error));
    *real_path = path_join(folder, path_name(path));
    free(folder);
    return *real_path ? RECMAP_OK : fail_memory(error);
}

/* Returns true if there is something at folder/name, even a link that leads nowhere. */
static bool has_entry(const char *folder, const char *name) {
    struct stat st;
    char *path = path_join(folder, name);
    bool is_there = path && !lstat(path, &st);
    free(path);
    return is_there;
}

recmap_status path_resolve_start(char **folder, bool *is_elsewhere, const char *path,
                                 const char *name, recmap_error *error) {
    char *own = path_folder(path);
    if (!own) return fail_memory(error);
    *is_elsewhere = path_is_link(path) && !(name && has_entry(own, name));
    recmap_status status = *is_elsewhere ? path_resolve_folder(folder, path, error)
                                         : path_resolve(folder, own, error);
    free(own);
    return status;
}

bool path_is_link(const char *path) {
    struct stat st;
    return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

char *path_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", !strcmp(folder, "/") ? "" : folder, name);
    return path;
}
