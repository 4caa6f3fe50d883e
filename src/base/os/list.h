/* Finding files: the kind of a path, the files in a folder, the files that match a pattern. */
#ifndef RECMAP_BASE_OS_LIST_H
#define RECMAP_BASE_OS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

enum path_kind {
    PATH_MISSING,
    PATH_FILE,   /* a regular file, or a link to one */
    PATH_FOLDER, /* a folder, or a link to one */
    PATH_OTHER,  /* a FIFO, a socket, a device */
};

/* Returns RECMAP_IO if the kind cannot be determined, for example for lack of permission. */
recmap_status path_get_kind(enum path_kind *kind, const char *path, recmap_error *error);

/* Paths, each malloc'ed and owned by the list. */
struct path_list {
    char **paths;
    size_t count;
    size_t capacity;
};

#define PATH_LIST_INIT                                                                             \
    { NULL, 0, 0 }

/* Takes ownership of `path`, even on failure. Returns false if memory runs out or `path` is NULL.
 */
bool path_list_add(struct path_list *list, char *path);
void path_list_cut(struct path_list *list, size_t count);
void path_list_deinit(struct path_list *list);

/* Sorts the paths from `first` on. Asks the thread's interrupt, and changes nothing after an error:
 * NO_MEMORY, CANCELLED. */
recmap_status path_list_sort(struct path_list *list, size_t first,
                             int (*compare)(const void *a, const void *b), recmap_error *error);

/* Returns whether a file name is of interest. */
typedef bool (*path_filter)(const char *name);

/* What functions that list files count for the thread's interrupt, in bytes: looking at a file. */
enum { PATH_WORK = 4 << 10 };

/* Adds the files of a folder whose names pass `filter`, in unspecified order. Skips folders, FIFOs,
 * sockets and devices. Broken links are included, so that opening them reports what is missing.
 * Asks the thread's interrupt. */
recmap_status list_folder(struct path_list *list, const char *folder, path_filter filter,
                          recmap_error *error);

#endif
