/* Files: opening, whole reads and writes, temporary names, publishing by rename. Every system call
 * on files is made here. Functions that fail set `error` with the path and what to do. */
#ifndef RECMAP_OS_FILE_H
#define RECMAP_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* What tells one file, and one state of it, from another. */
struct file_stat {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    int64_t mtime_ns; /* time of last change, ns since 1970 */
};

/* Opens a regular file for reading; a folder, FIFO or device is an error and never blocks. */
recmap_status file_open(int *fd, const char *path, recmap_error *error);

/* The same for `name` beneath the folder `root`: no absolute name, no `.`, `..`, empty or symbolic
 * link among its components, so that a name out of an untrusted index stays in the folder. */
recmap_status file_open_beneath(int *fd, const char *root, const char *name, recmap_error *error);

recmap_status file_get_stat(struct file_stat *stat, int fd, const char *path, recmap_error *error);

/* False when nothing is there (or it cannot be looked at). */
bool file_stat_path(struct file_stat *stat, const char *path);

/* The same with the reason when it cannot be looked at; nothing there is no error. */
recmap_status file_find_stat(struct file_stat *stat, bool *is_there, const char *path,
                             recmap_error *error);

void file_close(int fd);

/* Reads exactly `size` bytes at `offset`; a file that ends before is RECMAP_IO, naming the byte. */
recmap_status file_read_at(int fd, void *data, size_t size, uint64_t offset, const char *path,
                           recmap_error *error);

/* Asks the kernel to read this ahead of use, and says that the file is read in no order. Advice
 * only: nothing fails. */
void file_will_need(int fd, uint64_t offset, uint64_t size);
void file_expect_random(int fd);

/* Makes reads of an open file go past the page cache. Their offset, size and memory must then be
 * multiples of `alignment`, a power of two of at most 4096. False where that cannot be. */
bool file_pass_cache(uint32_t *alignment, int fd);

/* Whether the first and the last of the bytes could be read without waiting for a device. True
 * where the kernel cannot tell. */
bool file_is_resident(int fd, uint64_t offset, uint64_t size);

/* Writes all of it at `offset`. */
recmap_status file_write_at(int fd, const void *data, size_t size, uint64_t offset,
                            const char *path, recmap_error *error);

/* Cuts or extends the file. */
recmap_status file_resize(int fd, uint64_t size, const char *path, recmap_error *error);

/* Brings the file's bytes and size to the device. After a failure the bytes on the device are
 * unknown: throw the file away. */
recmap_status file_sync(int fd, const char *path, recmap_error *error);

/* A file under a temporary name that will replace `target`, locked as long as `fd` is open, so that
 * others can tell that its writer lives. */
struct temporary_file {
    int fd; /* -1: none */
    char *path;
    char *target;
    long process; /* that made it: a fork's copy of this leaves the file alone */
};

#define TEMPORARY_FILE_INIT                                                                        \
    { -1, NULL, NULL, 0 }

/* Creates `TARGET.tmp-RANDOM` beside `target`, after removing such files of `target` whose writers
 * are dead. */
recmap_status temporary_create(struct temporary_file *file, const char *target,
                               recmap_error *error);

/* Renames it to its target and syncs the folder. What was written must be synced before. Only when
 * the folder's sync fails, the file has its new name after an error. */
recmap_status temporary_publish(struct temporary_file *file, recmap_error *error);

/* Whether this process made it, and not one that forked this one. */
bool temporary_is_own(const struct temporary_file *file);

/* Removes it, if it is this process's own and was not published, and frees what it holds. */
void temporary_discard(struct temporary_file *file);

/* An unnamed temporary file in the folder of `target`, for spilling: it vanishes when closed. */
recmap_status file_create_unnamed(int *fd, const char *target, recmap_error *error);

/* Takes (waits for) the exclusive lock of an open file; it goes with the descriptor. */
recmap_status file_lock(int fd, const char *path, recmap_error *error);

/* The absolute path without symbolic links; malloc'ed, the caller frees it. */
recmap_status path_resolve(char **resolved, const char *path, recmap_error *error);

/* The folder in which a file really lies, behind all symbolic links; absolute, malloc'ed. */
recmap_status path_resolve_folder(char **folder, const char *path, recmap_error *error);

/* The folder part of a path ("." where there is none); malloc'ed, NULL when memory is out. */
char *path_folder(const char *path);

/* The part behind the last slash. */
const char *path_name(const char *path);

/* folder/name; malloc'ed, NULL when memory is out. */
char *path_join(const char *folder, const char *name);

#endif
