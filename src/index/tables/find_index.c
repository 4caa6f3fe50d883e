/* Finds the index of a list of shards: under its default name, or under the one of recmap 0.2.0. */
#include <recmap/shards.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "format/shards/index_name.h"
#include "format/shards/shard_source.h"
#include "index/tables/index.h"
#include "storage/protocol/url.h"

enum { PATH_SIZE = 4096, PATH_WORK = 4 << 10 /* for the interrupt, in bytes */ };

static bool is_there(const char *path) {
    struct file_stat stat;
    return file_stat_path(&stat, path);
}

/* Returns true if both paths lead to one file. */
static bool lead_to_one_file(const char *a, const char *b) {
    char *resolved[2] = {NULL, NULL};
    bool is_same = path_resolve(&resolved[0], a, NULL) == RECMAP_OK &&
                   path_resolve(&resolved[1], b, NULL) == RECMAP_OK &&
                   !strcmp(resolved[0], resolved[1]);
    free(resolved[0]);
    free(resolved[1]);
    return is_same;
}

/* Returns true if a name in an index, whose folder is given, is that of the shard. */
static bool is_name_of(const char *name, const char *folder, const char *shard) {
    if (url_is_url(name) || url_is_url(shard) || !strcmp(name, shard)) return !strcmp(name, shard);
    char *path = shard_name_is_absolute(name) ? strdup(name) : path_join(folder, name);
    bool is_same = path && (!strcmp(path, shard) || lead_to_one_file(path, shard));
    free(path);
    return is_same;
}

/* The number of files of the index if the list begins with all of them, or 0. The later parts of a
 * file that grew are also shards of the index; `seen` has room for the last part of each file. */
static recmap_status compare_files(size_t *known, const struct index_file *index, bool *seen,
                                   const char *folder, const recmap_shards *shards,
                                   recmap_error *error) {
    size_t count = (size_t)index_manifest(index)->shard_count, files = 0;
    const struct index_shard *shard = index_shards(index);
    for (const struct index_shard *end = shard + count; shard < end; shard++) {
        if (seen[shard->last_part]) continue;
        seen[shard->last_part] = true;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PATH_WORK, error));
        const char *path = recmap_shards_path(shards, files++);
        if (!path || !is_name_of(shard->entry.path, folder, path)) return RECMAP_OK;
    }
    *known = files;
    return RECMAP_OK;
}

static recmap_status count_known(size_t *known, const struct index_file *index,
                                 const recmap_shards *shards, recmap_error *error) {
    char *folder = NULL;
    bool is_elsewhere;
    *known = 0;
    RETURN_IF_FAILED(index_find_folder(&folder, &is_elsewhere, index, error));
    bool *seen = calloc((size_t)index_manifest(index)->shard_count + 1, sizeof *seen);
    recmap_status status = seen ? compare_files(known, index, seen, folder, shards, error)
                                : fail_memory(error);
    free(seen);
    free(folder);
    return status;
}

/* Returns true if the index at this path has its default name for the first `known` shards alone:
 * then it is theirs, and other shards are not added to it. */
static bool is_index_of_first(const char *path, const recmap_shards *shards, size_t known) {
    char name[PATH_SIZE], **paths = calloc(known, sizeof *paths);
    if (!paths) return false;
    for (size_t i = 0; i < known; i++) paths[i] = (char *)(uintptr_t)recmap_shards_path(shards, i);
    bool is_theirs = index_name_write(name, sizeof name, paths, known, NULL) == RECMAP_OK &&
                     !strcmp(name, path);
    free(paths);
    return is_theirs;
}

/* Finds out if the index at the old path is to be used. One that cannot be read is: it may have
 * columns that exist nowhere else, so it must not be ignored. */
static recmap_status check_old(bool *is_used, const char *path, const recmap_shards *shards,
                               recmap_error *error) {
    struct index_file *index = NULL;
    recmap_status status = index_open(&index, path, NULL, error);
    *is_used = true;
    if (status != RECMAP_OK)
        return status == RECMAP_NO_MEMORY || status == RECMAP_CANCELLED ? status : RECMAP_OK;
    size_t known = 0;
    status = count_known(&known, index, shards, error);
    index_close(index);
    *is_used = known &&
               (known == recmap_shards_count(shards) || !is_index_of_first(path, shards, known));
    return status;
}

recmap_status recmap_shards_find_index(char *path, size_t capacity, const recmap_shards *shards,
                                       recmap_error *error) {
    char old[PATH_SIZE];
    bool is_used;
    RETURN_IF_FAILED(recmap_shards_index_path(path, capacity, shards, error));
    if (recmap_shards_old_index_path(old, sizeof old, shards, NULL) != RECMAP_OK ||
        !strcmp(old, path) || is_there(path) || !is_there(old))
        return RECMAP_OK;
    RETURN_IF_FAILED(check_old(&is_used, old, shards, error));
    if (is_used && strlen(old) < capacity) memcpy(path, old, strlen(old) + 1);
    return RECMAP_OK;
}
