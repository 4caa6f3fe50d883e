/* Finds the index of a list of shards: under its default name, or under the one of recmap 0.2.0. */
#include <recmap/shards.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "format/shards/index_name.h"
#include "format/shards/shard_source.h"
#include "index/tables/index.h"

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

/* The shard of the list that an index names so, or NULL. The search starts where the shard is if
 * the index has the order of the list. */
static char *find_listed(const char *name, const char *folder, const recmap_shards *shards,
                         size_t start) {
    size_t count = recmap_shards_count(shards);
    for (size_t i = 0; i < count; i++) {
        const char *path = recmap_shards_path(shards, (start + i) % count);
        if (is_name_of(name, folder, path)) return (char *)(uintptr_t)path;
    }
    return NULL;
}

/* Shards of the list that are those of an index. */
struct known_shards {
    char **paths; /* borrowed from the list */
    size_t count;
    bool *seen; /* the last part of each file: the parts of one that grew are shards of the index */
};

/* Empties `known` if the list lacks a shard of the index. */
static recmap_status find_files(struct known_shards *known, const struct index_file *index,
                                const char *folder, const recmap_shards *shards,
                                recmap_error *error) {
    const struct index_shard *shard = index_shards(index);
    const struct index_shard *end = shard + index_manifest(index)->shard_count;
    for (; shard < end; shard++) {
        if (known->seen[shard->last_part]) continue;
        known->seen[shard->last_part] = true;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PATH_WORK, error));
        char *path = find_listed(shard->entry.path, folder, shards, known->count);
        known->paths[known->count++] = path;
        if (path) continue;
        known->count = 0;
        return RECMAP_OK;
    }
    return RECMAP_OK;
}

static recmap_status known_shards_init(struct known_shards *known, const struct index_file *index,
                                       const recmap_shards *shards, recmap_error *error) {
    char *folder = NULL;
    bool is_elsewhere;
    size_t count = (size_t)index_manifest(index)->shard_count + 1;
    *known = (struct known_shards){.paths = calloc(count, sizeof *known->paths),
                                   .seen = calloc(count, sizeof *known->seen)};
    if (!known->paths || !known->seen) return fail_memory(error);
    RETURN_IF_FAILED(index_find_folder(&folder, &is_elsewhere, index, error));
    recmap_status status = find_files(known, index, folder, shards, error);
    free(folder);
    return status;
}

static void known_shards_deinit(struct known_shards *known) {
    free(known->paths);
    free(known->seen);
}

/* An index of some of the shards is extended, unless the path is its default name: then it is the
 * index of these shards alone. */
static bool is_index_of(const struct known_shards *known, const char *path,
                        const recmap_shards *shards) {
    char name[PATH_SIZE];
    if (!known->count || known->count == recmap_shards_count(shards)) return known->count;
    return index_name_write(name, sizeof name, known->paths, known->count, NULL) != RECMAP_OK ||
           strcmp(name, path) != 0;
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
    struct known_shards known;
    status = known_shards_init(&known, index, shards, error);
    *is_used = status == RECMAP_OK && is_index_of(&known, path, shards);
    known_shards_deinit(&known);
    index_close(index);
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
