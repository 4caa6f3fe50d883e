/* Finding files: what a path is, the files in a folder, the files that a pattern matches. */
#ifndef RECMAP_OS_LIST_H
#define RECMAP_OS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

typedef enum path_kind {
    PATH_MISSING,
    PATH_FILE,   /* a regular file, or a link to one */
    PATH_FOLDER, /* or a link to one */
    PATH_OTHER,  /* a FIFO, a socket, a device */
} path_kind;

/* Errors: IO when it cannot be told, for lack of permission for instance. */
recmap_status path_get_kind(path_kind *kind, const char *path, recmap_error *error);

/* Paths, each malloc'ed and owned by the list. */
struct path_list {
    char **paths;
    size_t count;
    size_t capacity;
};

#define PATH_LIST_INIT                                                                             \
    { NULL, 0, 0 }

/* Takes `path` over, also when it fails (for lack of memory); NULL is such a failure. */
bool path_list_add(struct path_list *list, char *path);
void path_list_cut(struct path_list *list, size_t count);
void path_list_free(struct path_list *list);

/* Whether a name is of interest. */
typedef bool (*path_filter)(const char *name);

/* Adds the files of a folder whose names pass `filter`, in no particular order: no folders, FIFOs,
 * sockets or devices. Broken links are files here, so that opening them reports what is missing. */
recmap_status list_folder(struct path_list *list, const char *folder, path_filter filter,
                          recmap_error *error);

/* The same for the files that a pattern (* ? [..]) matches; none is no error. */
recmap_status list_matches(struct path_list *list, const char *pattern, path_filter filter,
                           recmap_error *error);

#endif
