/* Files: opening, complete reads and writes, temporary names, publishing by rename. All system
 * calls on files are made here. Functions that fail set `error` with the path and advice. */
#ifndef RECMAP_BASE_OS_FILE_H
#define RECMAP_BASE_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Identifies a file and one state of its contents. */
struct file_stat {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    int64_t mtime_ns; /* time of last modification, ns since 1970 */
    uint32_t mode;    /* type and permissions; 0 if it is not a local file */
    uint32_t group;
};

/* Opens a regular file for reading. A folder, FIFO or device is an error and never blocks. */
recmap_status file_open(int *fd, const char *path, recmap_error *error);

/* Opens `name` below the folder `root`, so that a name from an untrusted index cannot leave the
 * folder: names that are absolute or have empty, `.` or `..` components are rejected, and so are
 * folders in it that are symbolic links. Only the last component may be a link, to any file: links
 * are made by those who may write to the folder, not by the index. Unless `allows_all_links`, its
 * owner must be the user, root or the owner of the file, as others may have made it in a shared
 * folder to make the user read files of the user's own. Errors name the file `path`, or the root if
 * that cannot be opened: IO, CORRUPT (names that are rejected), INVALID (links that are). */
recmap_status file_open_beneath(int *fd, const char *root, const char *name, bool allows_all_links,
                                const char *path, recmap_error *error);

recmap_status file_get_stat(struct file_stat *file_stat, int fd, const char *path,
                            recmap_error *error);

/* Returns whether both describe the same file, in any state. */
bool file_is_same(const struct file_stat *a, const struct file_stat *b);

/* Returns whether both describe the same file in the same state: nothing was written in between. */
bool file_is_unchanged(const struct file_stat *a, const struct file_stat *b);

/* Sets `is_named` to whether `path` names the open file, rather than another file, a symbolic link
 * or nothing. Returns 0, or an errno if either cannot be examined. */
int file_has_name(bool *is_named, int fd, const char *path);

/* Returns false if the file does not exist or cannot be examined. */
bool file_stat_path(struct file_stat *file_stat, const char *path);

/* Like file_stat_path, but returns an error if the file cannot be examined. A missing file is not
 * an error. */
recmap_status file_find_stat(struct file_stat *file_stat, bool *is_there, const char *path,
                             recmap_error *error);

void file_close(int fd);

/* Reads exactly `size` bytes at `offset`. If the file ends earlier, returns RECMAP_IO with the byte
 * at which it ends. */
recmap_status file_read_at(int fd, void *data, size_t size, uint64_t offset, const char *path,
                           recmap_error *error);

/* Hints to the kernel: read this range soon; expect reads in random order. They never fail. */
void file_will_need(int fd, uint64_t offset, uint64_t size);
void file_expect_random(int fd);

/* Makes reads of an open file bypass the page cache. Their offset, size and memory must then be
 * multiples of `alignment`, a power of two of at most 4096. Returns false if the file system does
 * not support it. */
bool file_pass_cache(uint32_t *alignment, int fd);

/* Returns whether the first and the last byte of the range can be read without waiting for a
 * device, or true if the kernel cannot tell. */
bool file_is_resident(int fd, uint64_t offset, uint64_t size);

/* Writes all `size` bytes at `offset`. */
recmap_status file_write_at(int fd, const void *data, size_t size, uint64_t offset,
                            const char *path, recmap_error *error);

/* Truncates or extends the file. */
recmap_status file_resize(int fd, uint64_t size, const char *path, recmap_error *error);

/* Allocates space for `size` bytes, so that writing them through a map cannot fail. */
recmap_status file_reserve(int fd, uint64_t size, const char *path, recmap_error *error);

/* Flushes the file's bytes and size to the device. After a failure the bytes on the device are
 * unknown: discard the file. */
recmap_status file_sync(int fd, const char *path, recmap_error *error);

/* A file under a temporary name that will replace `target`. It is locked while `fd` is open, so
 * that other processes can tell whether its writer is alive. */
struct temporary_file {
    int fd; /* -1 if there is none */
    char *path;
    char *target;
    long process;  /* its creator; after fork, the child's copy of this struct leaves the file alone
                    */
    uint32_t mode; /* permissions that it gets if it replaces no file */
    uint32_t denied; /* permissions that it must not get */
};

#define TEMPORARY_FILE_INIT                                                                        \
    { -1, NULL, NULL, 0, 0, 0 }

/* What to do about temporary files of a target that dead writers left. */
enum temporary_leftovers { LEFTOVERS_REMOVE, LEFTOVERS_KEEP };

/* Removes the regular files with temporary names of these targets whose writers are dead. Lists
 * each folder once if its targets follow each other. */
void temporary_remove_leftovers(const char *const *targets, size_t count);

/* Creates `TARGET.tmp-<16 hex digits>` next to `target`, after removing its leftovers. They may be
 * kept if temporary_remove_leftovers has been called for many targets: finding them takes as long
 * as the folder is large. */
recmap_status temporary_create(struct temporary_file *file, const char *target,
                               enum temporary_leftovers leftovers, recmap_error *error);

/* Returns the size of TARGET if the name is TARGET.tmp-<16 hex digits>, else 0. */
size_t temporary_target_size(const char *name);

/* Lets nobody but the owner read the file who cannot read `source`, from which its contents come.
 * A mode of 0, of an object in a store, changes nothing. */
void temporary_restrict(struct temporary_file *file, const struct file_stat *source);

/* `stat` of the file with the permissions that it will have when it is published. */
struct file_stat temporary_final_stat(const struct temporary_file *file,
                                      const struct file_stat *stat);

/* The error for a temporary file of `target` whose name now belongs to another file. */
recmap_status temporary_fail_replaced(const char *target, recmap_error *error);

/* Gives the file the permissions of the target that it replaces, or of a new file, without those
 * that temporary_restrict denied, renames it to the target and syncs the folder. Until then only
 * the owner can read it. Fails if its name now belongs to another file. Sync the file's contents
 * first. If only the sync of the folder fails, the file already has its new name despite the error.
 */
recmap_status temporary_publish(struct temporary_file *file, recmap_error *error);

/* Returns true if this process created the file, rather than its parent before a fork. */
bool temporary_is_own(const struct temporary_file *file);

/* Closes the file, removes it if it belongs to this process and was not published, and frees the
 * struct's memory. */
void temporary_discard(struct temporary_file *file);

/* Creates an unnamed temporary file in the folder of `target`, for spilling. It is gone once
 * closed. */
recmap_status file_create_unnamed(int *fd, const char *target, recmap_error *error);

/* Returns the folder of temporary copies. As large as the largest shards, they may not fit into
 * /tmp, which is often in memory. */
const char *path_scratch_folder(void);

/* Sets `real_path` to the absolute path without symbolic links; the caller frees it. */
recmap_status path_resolve(char **real_path, const char *path, recmap_error *error);

/* Sets `folder` to the absolute folder that contains the file once all symbolic links are resolved;
 * the caller frees it. */
recmap_status path_resolve_folder(char **folder, const char *path, recmap_error *error);

/* Sets `folder` to the absolute folder, without symbolic links, of a file that may not exist. */
recmap_status path_resolve_parent(char **folder, const char *path, recmap_error *error);

/* Sets `real_path` to the absolute path of a file in a folder without symbolic links; the file may
 * be one. */
recmap_status path_resolve_entry(char **real_path, const char *path, recmap_error *error);

/* Sets `folder` to the absolute folder, without symbolic links, from which names in the file at
 * `path` start, such as `name`, which may be NULL. It is the folder of the file. If the path is a
 * link, the link's folder takes precedence if it has a file `name`. */
recmap_status path_resolve_start(char **folder, bool *is_elsewhere, const char *path,
                                 const char *name, recmap_error *error);

/* Returns true if the path itself, not only its folder, is a symbolic link. */
bool path_is_link(const char *path);

/* Returns the folder part of a path ("." if there is none), or NULL if memory runs out; the caller
 * frees it. */
char *path_folder(const char *path);

/* Returns the part after the last slash. */
const char *path_name(const char *path);

/* Returns folder/name, or NULL if memory runs out; the caller frees it. */
char *path_join(const char *folder, const char *name);

#endif
