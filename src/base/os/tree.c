#include "base/os/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/path_pattern.h"
#include "base/os/file.h"

/* A folder whose entries are to be matched. */
struct tree_folder {
    char *path;          /* ends with a slash, or is empty for the current folder */
    uint64_t components; /* those that its entries may match */
};

/* The folders are visited one at a time, so that only one is open however deep the tree is. */
struct tree {
    struct path_list *list; /* of the matches */
    path_filter filter;
    char *text; /* the pattern without its base */
    struct path_pattern pattern;
    struct tree_folder *folders; /* not yet visited */
    size_t folder_count;
    size_t folder_capacity;
};

/* Takes ownership of `path`. */
static recmap_status push_folder(struct tree *tree, char *path, uint64_t components,
                                 recmap_error *error) {
    if (path && array_reserve(&tree->folders, &tree->folder_capacity, tree->folder_count + 1,
                              sizeof *tree->folders)) {
        tree->folders[tree->folder_count++] = (struct tree_folder){path, components};
        return RECMAP_OK;
    }
    free(path);
    return fail_memory(error);
}

static recmap_status tree_init(struct tree *tree, const char *pattern, recmap_error *error) {
    size_t size = path_pattern_base_size(pattern);
    tree->text = strdup(pattern + size);
    if (!tree->text) return fail_memory(error);
    recmap_status status = path_pattern_init(&tree->pattern, tree->text, false, error);
    if (status != RECMAP_OK) {
        fail_file(error, pattern);
        return status;
    }
    return push_folder(tree, strndup(pattern, size), path_pattern_start(&tree->pattern), error);
}

static void tree_deinit(struct tree *tree) {
    while (tree->folder_count) free(tree->folders[--tree->folder_count].path);
    free(tree->folders);
    free(tree->text);
}

static char *join(const char *start, const char *end) {
    size_t start_size = strlen(start), end_size = strlen(end);
    char *path = malloc(start_size + end_size + 1);
    if (!path) return NULL;
    memcpy(path, start, start_size);
    memcpy(path + start_size, end, end_size + 1);
    return path;
}

/* Some file systems do not tell the types of entries. */
static bool is_link(unsigned char type, const char *path) {
    struct stat st;
    if (type != DT_UNKNOWN) return type == DT_LNK;
    return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* Adds the entry at `path` if it is a file and matches, or pushes it if it is a folder in which
 * something may match. Broken links are added. */
static recmap_status add_entry(struct tree *tree, uint64_t components, const char *name,
                               unsigned char type, const char *path, recmap_error *error) {
    uint64_t next = path_pattern_step(&tree->pattern, components, name, is_link(type, path));
    uint64_t end = path_pattern_end(&tree->pattern);
    bool is_match = next & end && tree->filter(name);
    if (!next || (type == DT_REG && !is_match)) return RECMAP_OK;
    enum path_kind kind;
    RETURN_IF_FAILED(path_get_kind(&kind, path, error));
    RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PATH_WORK, error));
    if (kind == PATH_FOLDER) {
        if (next == end) return RECMAP_OK;
        return push_folder(tree, join(path, "/"), next & ~end, error);
    }
    if (!is_match || kind == PATH_OTHER) return RECMAP_OK;
    return path_list_add(tree->list, strdup(path)) ? RECMAP_OK : fail_memory(error);
}

static recmap_status add_entries(struct tree *tree, const struct tree_folder *folder, DIR *stream,
                                 recmap_error *error) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry)
            return errno ? fail_errno(error, errno, folder->path, "read the folder") : RECMAP_OK;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char *path = join(folder->path, entry->d_name);
        if (!path) return fail_memory(error);
        recmap_status status =
            add_entry(tree, folder->components, entry->d_name, entry->d_type, path, error);
        free(path);
        if (status != RECMAP_OK) return status;
    }
}

/* Adds the entry of this name if there is one. The folder is not listed: it may have many entries,
 * or be one that may be passed through, but not be read. */
static recmap_status add_named(struct tree *tree, const struct tree_folder *folder,
                               const char *name, recmap_error *error) {
    struct stat st;
    recmap_status status = RECMAP_OK;
    char *path = join(folder->path, name);
    if (!path) return fail_memory(error);
    if (!lstat(path, &st) || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG))
        status = add_entry(tree, folder->components, name, DT_UNKNOWN, path, error);
    free(path);
    return status;
}

/* A folder that does not exist has no matches. */
static recmap_status visit(struct tree *tree, const struct tree_folder *folder,
                           recmap_error *error) {
    const char *path = folder->path[0] ? folder->path : ".";
    const char *name = path_pattern_only_name(&tree->pattern, folder->components);
    if (name) return add_named(tree, folder, name, error);
    DIR *stream = opendir(path);
    if (!stream && (errno == ENOENT || errno == ENOTDIR)) return RECMAP_OK;
    if (!stream) return fail_errno(error, errno, path, "read the folder");
    recmap_status status = add_entries(tree, folder, stream, error);
    closedir(stream);
    return status;
}

recmap_status tree_list(struct path_list *list, const char *pattern, path_filter filter,
                        recmap_error *error) {
    struct tree tree = {.list = list, .filter = filter};
    recmap_status status = tree_init(&tree, pattern, error);
    while (status == RECMAP_OK && tree.folder_count) {
        struct tree_folder folder = tree.folders[--tree.folder_count];
        status = visit(&tree, &folder, error);
        free(folder.path);
    }
    tree_deinit(&tree);
    return status;
}
