/* The system calls on files. Every call is a point, and may fail. A name that is opened, a lock, a
 * write and a rename take effect at once, as in the kernel. */
#include "simulation/world/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "simulation/world/disk.h"
#include "simulation/world/faults.h"
#include "simulation/world/process.h"
#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

enum { PATH_SIZE = 512, FIRST_DESCRIPTOR = 3 };

#define NS_PER_S 1000000000

/* A file that a process has opened. */
struct open_file {
    struct inode *inode;
    int flags;
    uint64_t position;
    bool is_of_lmdb; /* which takes a call that does less than asked for a damaged file */
    int lock;        /* LOCK_SH, LOCK_EX, or 0 */
    struct open_file *next_lock; /* on the same inode */
};

files_renamed *files_on_rename;

static int fail(int code) {
    errno = code;
    return -1;
}

/* ---- Descriptors. */

static struct open_file *file_of(int descriptor) {
    struct process *process = process_current();
    if (descriptor < 0 || descriptor >= DESCRIPTORS_MAX || !process->descriptors[descriptor]) {
        errno = EBADF;
        return NULL;
    }
    return process->descriptors[descriptor];
}

static int add_descriptor(struct inode *inode, int flags, bool is_by_number) {
    struct process *process = process_current();
    int descriptor = FIRST_DESCRIPTOR;
    while (descriptor < DESCRIPTORS_MAX && process->descriptors[descriptor]) descriptor++;
    if (descriptor == DESCRIPTORS_MAX) return fail(EMFILE);
    struct open_file *file = calloc(1, sizeof *file);
    *file = (struct open_file){.inode = inode, .flags = flags};
    file->is_of_lmdb = is_by_number;
    inode->opens++;
    process->descriptors[descriptor] = file;
    return descriptor;
}

static void unlock(struct open_file *file) {
    struct open_file **link = (struct open_file **)&file->inode->lock;
    while (*link && *link != file) link = &(*link)->next_lock;
    if (*link) *link = file->next_lock;
    file->lock = 0;
    schedule_wake_all(&file->inode->lock);
}

void files_close(struct process *process, int descriptor) {
    struct open_file *file = process->descriptors[descriptor];
    process->descriptors[descriptor] = NULL;
    if (file->lock) unlock(file);
    file->inode->opens--;
    disk_release(file->inode);
    free(file);
}

/* ---- Paths. */

/* The path from the root. */
static bool find_path(char path[PATH_SIZE], int folder, const char *name) {
    if (name[0] == '/') return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE;
    if (!strncmp(name, "./", 2)) name += 2;
    if (!strcmp(name, ".")) name = "";
    if (folder == AT_FDCWD) return snprintf(path, PATH_SIZE, "/data/%s", name) < PATH_SIZE;
    return false;
}

static struct inode *find_beneath(struct inode **folder, const char **name, int descriptor,
                                  const char *text) {
    static char path[PATH_SIZE];
    int number;
    if (sscanf(text, "/proc/self/fd/%d", &number) == 1) {
        struct open_file *file = file_of(number);
        *folder = NULL;
        if (!file) errno = ENOENT;
        return file ? file->inode : NULL;
    }
    if (descriptor != AT_FDCWD && text[0] != '/') {
        const struct open_file *file = file_of(descriptor);
        if (!file) return *folder = NULL, NULL;
        for (size_t i = 0; i < file->inode->folder->now.count; i++)
            if (!strcmp(file->inode->folder->now.entries[i].name, text)) {
                *folder = file->inode;
                *name = text;
                return file->inode->folder->now.entries[i].inode;
            }
        *folder = file->inode;
        *name = text;
        errno = ENOENT;
        return NULL;
    }
    if (!find_path(path, AT_FDCWD, text)) {
        errno = ENAMETOOLONG;
        return *folder = NULL, NULL;
    }
    return disk_find(folder, name, path);
}

/* ---- Opening and closing. */

static int open_inode(struct inode *inode, int flags, bool is_by_number) {
    if ((flags & O_DIRECTORY) && !inode->folder) return fail(ENOTDIR);
    if (inode->folder && (flags & O_ACCMODE) != O_RDONLY) return fail(EISDIR);
    if (flags & O_TRUNC) disk_resize(inode, 0);
    return add_descriptor(inode, flags, is_by_number);
}

static int create_inode(struct inode *folder, const char *name, int flags, mode_t mode) {
    struct inode *inode = disk_create(S_IFREG | (mode & 0755));
    int descriptor = add_descriptor(inode, flags, false);
    if (descriptor < 0) {
        disk_release(inode);
        return -1;
    }
    if (name) disk_link(folder, name, inode);
    return descriptor;
}

static void note_index(const struct inode *inode) {
    struct process *process = process_current();
    process->opened_index = inode->number;
    if (!process->first_index) process->first_index = inode->number;
}

/* A builder that could not open the index which it replaces, or learn which file that is, asks for
 * the file at the path instead. */
static void miss_index(void) {
    struct process *process = process_current();
    if (!process->first_index) process->has_missed_index = true;
}

/* The same of one that it opened. Returns -1. */
static int forget_index(const struct inode *inode) {
    struct process *process = process_current();
    if (process->first_index == inode->number) {
        process->first_index = 0;
        process->has_missed_index = true;
    }
    return fail(EIO);
}

static void note_looked_at(const struct inode *inode) {
    struct process *process = process_current();
    if (process->has_missed_index && !process->first_index) process->first_index = inode->number;
}

static bool is_index(const char *path) {
    size_t size = strlen(path);
    return size > 4 && !strcmp(path + size - 4, ".rmx");
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
    struct inode *folder;
    const char *name;
    if (faults_hit("open", flags & O_CREAT ? ENOSPC : EIO)) {
        if (is_index(path)) miss_index();
        return -1;
    }
    struct inode *inode = find_beneath(&folder, &name, at, path);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        if (!inode) return -1;
        trace("creates a file without a name in %s", path);
        return create_inode(NULL, NULL, flags & ~O_TMPFILE, mode);
    }
    if (inode && (flags & O_CREAT) && (flags & O_EXCL)) return fail(EEXIST);
    if (inode) {
        trace("opens %s", path);
        if (is_index(path)) note_index(inode);
        return open_inode(inode, flags, !strncmp(path, "/proc/", 6));
    }
    if (!folder || !(flags & O_CREAT)) return -1;
    trace("creates %s", path);
    return create_inode(folder, name, flags, mode);
}

int __wrap_openat(int at, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(at, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(AT_FDCWD, path, flags, mode);
}

int __wrap_close(int descriptor) {
    schedule_point();
    if (!file_of(descriptor))
        run_fail("%s closes a file that is not open: %d", process_current()->name, descriptor);
    files_close(process_current(), descriptor);
    return 0;
}

/* ---- Reading and writing. */

ssize_t __wrap_pread(int descriptor, void *data, size_t size, off_t offset) {
    if (faults_hit("pread", EIO)) return -1;
    const struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    uint64_t at = (uint64_t)offset;
    if (at >= file->inode->size) return 0;
    if (size > file->inode->size - at) size = file->inode->size - at;
    if (!file->is_of_lmdb) size = faults_shorten(size);
    memcpy(data, file->inode->pages + at, size);
    return (ssize_t)size;
}

ssize_t __wrap_preadv2(int descriptor, const struct iovec *parts, int count, off_t offset,
                       int flags) {
    (void)count, (void)flags;
    return __wrap_pread(descriptor, parts[0].iov_base, parts[0].iov_len, offset);
}

ssize_t __wrap_read(int descriptor, void *data, size_t size) {
    struct open_file *file = file_of(descriptor);
    ssize_t done = __wrap_pread(descriptor, data, size, file ? (off_t)file->position : 0);
    if (done > 0) file->position += (uint64_t)done;
    return done;
}

/* A disk that is nearly full stores a part. The library then writes the rest, and is told; LMDB
 * takes the short write for a full disk. */
static ssize_t write_at(struct open_file *file, const void *data, size_t size, uint64_t offset) {
    uint64_t end = file->inode->size, space = disk_space_left();
    if (offset + size > end && offset + size - end > space) {
        size = offset < end + space ? (size_t)(end + space - offset) : 0;
        if (!size || file->is_of_lmdb) faults_note_full("a write");
        if (!size) return -1;
    }
    if (!file->is_of_lmdb) size = faults_shorten(size);
    disk_write(file->inode, data, size, offset);
    return (ssize_t)size;
}

ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset) {
    bool fails = faults_hit("pwrite", EIO);
    struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (!fails) return write_at(file, data, size, (uint64_t)offset);
    size_t part = faults_cut(size);
    if (part) disk_write(file->inode, data, part, (uint64_t)offset);
    return fail(EIO);
}

ssize_t __wrap_write(int descriptor, const void *data, size_t size) {
    if (faults_hit("write", ENOSPC)) return -1;
    struct open_file *file = file_of(descriptor);
    ssize_t done = file ? write_at(file, data, size, file->position) : -1;
    if (done > 0) file->position += (uint64_t)done;
    return done;
}

/* LMDB alone calls it, and takes a short write for a full disk. */
ssize_t __wrap_writev(int descriptor, const struct iovec *parts, int count) {
    if (faults_hit("writev", EIO)) return -1;
    struct open_file *file = file_of(descriptor);
    ssize_t total = 0;
    if (!file) return -1;
    for (int i = 0; i < count; i++) {
        uint64_t end = file->position + parts[i].iov_len;
        bool fits = end <= file->inode->size || end - file->inode->size <= disk_space_left();
        if (!fits) {
            faults_note_full("writev");
            return total ? total : -1;
        }
        disk_write(file->inode, parts[i].iov_base, parts[i].iov_len, file->position);
        file->position += parts[i].iov_len;
        total += (ssize_t)parts[i].iov_len;
    }
    return total;
}

off_t __wrap_lseek(int descriptor, off_t offset, int whence) {
    struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (whence == SEEK_END) offset += (off_t)file->inode->size;
    if (whence == SEEK_CUR) offset += (off_t)file->position;
    file->position = (uint64_t)offset;
    return offset;
}

int __wrap_ftruncate(int descriptor, off_t size) {
    if (faults_hit("ftruncate", EIO)) return -1;
    struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (disk_resize(file->inode, (uint64_t)size)) return 0;
    faults_note_full("ftruncate");
    return -1;
}

int __wrap_posix_fallocate(int descriptor, off_t offset, off_t size) {
    if (faults_hit("posix_fallocate", ENOSPC)) return errno;
    struct open_file *file = file_of(descriptor);
    if (!file) return EBADF;
    uint64_t end = (uint64_t)(offset + size);
    if (end <= file->inode->size || disk_resize(file->inode, end)) return 0;
    faults_note_full("posix_fallocate");
    return ENOSPC;
}

/* ---- Syncing. */

static int sync_file(int descriptor, const char *call) {
    static struct random_stream choices;
    const struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (faults_hit(call, EIO)) {
        disk_lose_sync(file->inode, &choices);
        return -1;
    }
    trace("syncs %s %" PRIu64, file->inode->folder ? "folder" : "file", file->inode->number);
    disk_sync(file->inode);
    schedule_point();
    return 0;
}

int __wrap_fsync(int descriptor) {
    return sync_file(descriptor, "fsync");
}

int __wrap_fdatasync(int descriptor) {
    return sync_file(descriptor, "fdatasync");
}

/* ---- Attributes. */

static void fill_stat(struct stat *st, const struct inode *inode) {
    *st = (struct stat){.st_dev = 1,
                        .st_ino = inode->number,
                        .st_mode = inode->mode,
                        .st_nlink = inode->links,
                        .st_uid = geteuid(),
                        .st_gid = getegid(),
                        .st_size = (off_t)inode->size,
                        .st_blksize = 4096,
                        .st_blocks = (blkcnt_t)((inode->size + 511) / 512)};
    st->st_mtim = (struct timespec){inode->mtime_ns / NS_PER_S, inode->mtime_ns % NS_PER_S};
    st->st_ctim = st->st_atim = st->st_mtim;
}

int __wrap_fstat(int descriptor, struct stat *st) {
    bool fails = faults_hit("fstat", EIO);
    const struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (fails) return forget_index(file->inode);
    fill_stat(st, file->inode);
    return 0;
}

int __wrap___fxstat(int version, int descriptor, struct stat *st) {
    (void)version;
    return __wrap_fstat(descriptor, st);
}

int __wrap_stat(const char *path, struct stat *st) {
    struct inode *folder;
    const char *name;
    if (faults_hit("stat", EIO)) return -1;
    const struct inode *inode = find_beneath(&folder, &name, AT_FDCWD, path);
    if (!inode) return -1;
    if (is_index(path)) note_looked_at(inode);
    fill_stat(st, inode);
    return 0;
}

int __wrap_lstat(const char *path, struct stat *st) {
    return __wrap_stat(path, st);
}

struct statx;
int __wrap_statx(int at, const char *path, int flags, unsigned mask, struct statx *attributes) {
    (void)at, (void)path, (void)flags, (void)mask, (void)attributes;
    return fail(ENOSYS);
}

int __wrap_fchmod(int descriptor, mode_t mode) {
    struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    file->inode->mode = (file->inode->mode & S_IFMT) | (mode & 07777);
    return 0;
}

int __wrap_utimensat(int at, const char *path, const struct timespec times[2], int flags) {
    struct inode *folder;
    const char *name;
    (void)flags;
    schedule_point();
    struct inode *inode = find_beneath(&folder, &name, at, path);
    if (!inode) return -1;
    inode->mtime_ns = (int64_t)times[1].tv_sec * NS_PER_S + times[1].tv_nsec;
    return 0;
}

int __wrap_statvfs(const char *path, struct statvfs *space) {
    (void)path;
    *space = (struct statvfs){
        .f_frsize = 4096, .f_blocks = 1 << 24, .f_bavail = disk_space_left() / 4096};
    return 0;
}

int __wrap_fstatfs(int descriptor, struct statfs *space) {
    (void)descriptor;
    *space = (struct statfs){.f_type = 0xef53};
    return 0;
}

int __wrap_fcntl(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    int argument = command == F_SETFL || command == F_SETFD ? va_arg(arguments, int) : 0;
    va_end(arguments);
    struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (command == F_GETFL) return file->flags;
    if (command == F_SETFL) file->flags = argument;
    return 0;
}

int __wrap_posix_fadvise(int descriptor, off_t offset, off_t size, int advice) {
    (void)descriptor, (void)offset, (void)size, (void)advice;
    return 0;
}

/* ---- Locks. */

static bool may_lock(const struct open_file *file, int kind) {
    for (const struct open_file *other = file->inode->lock; other; other = other->next_lock)
        if (other != file && (kind == LOCK_EX || other->lock == LOCK_EX)) return false;
    return true;
}

int __wrap_flock(int descriptor, int operation) {
    int kind = operation & (LOCK_SH | LOCK_EX);
    if (faults_hit("flock", ENOLCK)) return -1;
    struct open_file *file = file_of(descriptor);
    if (!file) return -1;
    if (file->lock) unlock(file);
    if (!kind) return 0;
    while (!may_lock(file, kind)) {
        if (operation & LOCK_NB) return fail(EWOULDBLOCK);
        schedule_wait(WAIT_OTHERS, &file->inode->lock, FOREVER);
    }
    trace("locks file %" PRIu64, file->inode->number);
    file->lock = kind;
    file->next_lock = file->inode->lock;
    file->inode->lock = file;
    return 0;
}

/* ---- Names. */

int __wrap_unlinkat(int at, const char *path, int flags) {
    struct inode *folder;
    const char *name;
    (void)flags;
    if (faults_hit("unlink", EIO)) return -1;
    if (!find_beneath(&folder, &name, at, path)) return -1;
    trace("removes %s", path);
    int code = disk_unlink(folder, name);
    return code ? fail(code) : 0;
}

int __wrap_unlink(const char *path) {
    return __wrap_unlinkat(AT_FDCWD, path, 0);
}

int __wrap_rename(const char *former, const char *path) {
    struct inode *folder, *new_folder;
    const char *name;
    char former_name[NAME_MAX_SIZE];
    if (faults_hit("rename", EIO)) return -1;
    struct inode *inode = find_beneath(&folder, &name, AT_FDCWD, former);
    if (!inode) return -1;
    snprintf(former_name, sizeof former_name, "%s", name);
    find_beneath(&new_folder, &name, AT_FDCWD, path);
    if (new_folder != folder) return fail(EXDEV);
    trace("renames %s to %s", former_name, name);
    int code = disk_rename(folder, former_name, name);
    if (code) return fail(code);
    if (files_on_rename) files_on_rename(process_current(), name, inode);
    schedule_point();
    return 0;
}

int __wrap_mkdir(const char *path, mode_t mode) {
    struct inode *folder;
    const char *name;
    schedule_point();
    if (find_beneath(&folder, &name, AT_FDCWD, path)) return fail(EEXIST);
    if (!folder) return -1;
    disk_link(folder, name, disk_create(S_IFDIR | mode));
    return 0;
}

ssize_t __wrap_readlinkat(int at, const char *path, char *target, size_t size) {
    (void)at, (void)path, (void)target, (void)size;
    return fail(EINVAL);
}

char *__wrap_malloc(size_t size);

char *__wrap_realpath(const char *path, char *resolved) {
    char full[PATH_SIZE];
    struct inode *folder;
    const char *name;
    schedule_point();
    if (!find_beneath(&folder, &name, AT_FDCWD, path) || !find_path(full, AT_FDCWD, path))
        return NULL;
    size_t size = strlen(full);
    while (size > 1 && full[size - 1] == '/') full[--size] = 0;
    if (!resolved) resolved = __wrap_malloc(size + 1);
    if (resolved) memcpy(resolved, full, size + 1);
    return resolved;
}

/* ---- Folders. */

/* A folder is listed as it was when it was opened. */
struct listing {
    int descriptor;
    size_t next;
    struct entry_list entries;
    struct dirent entry;
};

void *__wrap_opendir(const char *path) {
    int descriptor = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor < 0) return NULL;
    struct listing *listing = (struct listing *)__wrap_malloc(sizeof *listing);
    if (!listing) {
        files_close(process_current(), descriptor);
        return NULL;
    }
    *listing = (struct listing){.descriptor = descriptor,
                                .entries = file_of(descriptor)->inode->folder->now};
    return listing;
}

struct dirent *__wrap_readdir(void *folder) {
    struct listing *listing = folder;
    schedule_point();
    if (listing->next == listing->entries.count) return NULL;
    const struct entry *entry = &listing->entries.entries[listing->next++];
    listing->entry.d_ino = entry->inode->number;
    listing->entry.d_type = DT_UNKNOWN;
    snprintf(listing->entry.d_name, sizeof listing->entry.d_name, "%s", entry->name);
    return &listing->entry;
}

void __wrap_free(void *data);

int __wrap_closedir(void *folder) {
    struct listing *listing = folder;
    files_close(process_current(), listing->descriptor);
    __wrap_free(listing);
    return 0;
}

int __wrap_dirfd(void *folder) {
    return ((struct listing *)folder)->descriptor;
}

/* Files of the real system, such as the limits of control groups, are not there. */
FILE *__wrap_fopen(const char *path, const char *mode) {
    (void)path, (void)mode;
    errno = ENOENT;
    return NULL;
}

/* ---- Maps. */

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int descriptor,
                  off_t offset) {
    struct process *process = process_current();
    if (flags & MAP_FIXED) return mmap(address, size, protection, flags, -1, 0);
    if (faults_hit("mmap", ENOMEM)) return MAP_FAILED;
    int memory = -1;
    if (descriptor >= 0) {
        const struct open_file *file = file_of(descriptor);
        if (!file) return MAP_FAILED;
        memory = file->inode->memory;
    }
    if (process->map_count == MAPS_KEPT) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *data = mmap(address, size, protection, flags, memory, offset);
    if (data != MAP_FAILED) process->maps[process->map_count++] = (struct process_map){data, size};
    return data;
}

int __wrap_munmap(void *data, size_t size) {
    struct process *process = process_current();
    schedule_point();
    for (size_t i = 0; i < process->map_count; i++)
        if (process->maps[i].data == data) {
            process->maps[i] = process->maps[--process->map_count];
            break;
        }
    return munmap(data, size);
}

int __wrap_madvise(void *data, size_t size, int advice) {
    (void)data, (void)size, (void)advice;
    return 0;
}

int __wrap_msync(void *data, size_t size, int flags) {
    (void)data, (void)size, (void)flags;
    return 0;
}

/* Now and then, nothing is in memory. */
int __wrap_mincore(void *data, size_t size, unsigned char *pages) {
    (void)data;
    memset(pages, schedule_now() / 1000 % 2, (size + 4095) / 4096);
    return 0;
}
