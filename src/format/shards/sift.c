#include "format/shards/sift.h"

#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "base/os/tree.h"
#include "format/shards/shard_name.h"

static bool is_likely(const char *path, const void *context) {
    (void)context;
    return shard_name_is_likely(path_name(path));
}

static bool is_likely_and_not_text(const char *path, const void *context) {
    return is_likely(path, context) && !shard_name_is_text(path_name(path));
}

/* Folders that the pattern names are as the caller chose them, so only what matches wildcards is
 * looked at. glob reduces slashes at the start of a pattern to one: then that is the name alone. */
static bool is_matched(const char *path, const void *pattern) {
    size_t size = tree_base_size(pattern);
    bool is_below = !strncmp(path, pattern, size);
    return !shard_path_is_temporary(is_below ? path + size : path_name(path));
}

/* Moves what is not kept. Without memory, the list is whole, or has lost what was moved. */
static recmap_status move_others(struct path_list *list, size_t first,
                                 bool (*is_kept)(const char *path, const void *context),
                                 const void *context, struct path_list *left_out,
                                 recmap_error *error) {
    size_t kept = first;
    bool has_memory = true;
    for (size_t i = first; i < list->count; i++) {
        char *path = list->paths[i];
        if (is_kept(path, context)) list->paths[kept++] = path;
        else has_memory &= path_list_add(left_out, path);
    }
    list->count = kept;
    return has_memory ? RECMAP_OK : fail_memory(error);
}

/* Text files are shards only of a folder that has no others: beside others they hold labels, lists
 * or logs. */
recmap_status sift_folder(struct path_list *list, size_t first, struct path_list *left_out,
                          recmap_error *error) {
    bool has_others = false;
    for (size_t i = first; i < list->count; i++)
        has_others |= is_likely_and_not_text(list->paths[i], NULL);
    return move_others(list, first, has_others ? is_likely_and_not_text : is_likely, NULL, left_out,
                       error);
}

recmap_status sift_matches(struct path_list *list, size_t first, const char *pattern,
                           struct path_list *left_out, recmap_error *error) {
    return move_others(list, first, is_matched, pattern, left_out, error);
}
