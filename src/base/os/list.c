#include "base/os/list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "base/os/file.h"

recmap_status path_get_kind(enum path_kind *kind, const char *path, recmap_error *error) {
    struct stat st;
    if (!stat(path, &st))
        *kind = S_ISREG(st.st_mode) ? PATH_FILE : S_ISDIR(st.st_mode) ? PATH_FOLDER : PATH_OTHER;
    else if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) *kind = PATH_MISSING;
    else return fail_errno(error, errno, path, "look at the file");
    return RECMAP_OK;
}

bool path_list_add(struct path_list *list, char *path) {
    if (path &&
        array_reserve(&list->paths, &list->capacity, list->count + 1, sizeof *list->paths)) {
        list->paths[list->count++] = path;
        return true;
    }
    free(path);
    return false;
}

void path_list_cut(struct path_list *list, size_t count) {
    while (list->count > count) free(list->paths[--list->count]);
}

void path_list_deinit(struct path_list *list) {
    path_list_cut(list, 0);
    free(list->paths);
    *list = (struct path_list)PATH_LIST_INIT;
}

/* An interrupted sort leaves some items twice and others nowhere, but each path must be freed once:
 * so this sorts a copy of the pointers. */
recmap_status path_list_sort(struct path_list *list, size_t first,
                             int (*compare)(const void *a, const void *b), recmap_error *error) {
    size_t count = list->count - first;
    if (count < 2) return RECMAP_OK;
    char **sorted = malloc(count * sizeof *sorted);
    if (!sorted) return fail_memory(error);
    memcpy(sorted, list->paths + first, count * sizeof *sorted);
    recmap_status status = sort_items(sorted, count, sizeof *sorted, compare, error);
    if (status == RECMAP_OK) memcpy(list->paths + first, sorted, count * sizeof *sorted);
    free(sorted);
    return status;
}

/* Takes ownership of `path` and adds it, unless it is something that cannot be a shard. */
static recmap_status add_file(struct path_list *list, char *path, recmap_error *error) {
    if (!path) return fail_memory(error);
    enum path_kind kind = PATH_OTHER;
    recmap_status status = path_get_kind(&kind, path, error);
    if (status == RECMAP_OK) status = interrupt_check(thread_interrupt(), PATH_WORK, error);
    if (status != RECMAP_OK || kind == PATH_FOLDER || kind == PATH_OTHER) {
        free(path);
        return status;
    }
    return path_list_add(list, path) ? RECMAP_OK : fail_memory(error);
}

recmap_status list_folder(struct path_list *list, const char *folder, path_filter filter,
                          recmap_error *error) {
    DIR *stream = opendir(folder);
    if (!stream) return fail_errno(error, errno, folder, "read the folder");
    recmap_status status = RECMAP_OK;
    while (status == RECMAP_OK) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry) {
            if (errno) status = fail_errno(error, errno, folder, "read the folder");
            break;
        }
        if (filter(entry->d_name)) status = add_file(list, path_join(folder, entry->d_name), error);
    }
    closedir(stream);
    return status;
}
