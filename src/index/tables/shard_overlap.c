#include "index/tables/shard_overlap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/os/list.h"
#include "base/words/url_prefix.h"
#include "format/shards/shard_source.h"
#include "index/tables/index.h"

enum { PATH_SIZE = 4096 };

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

static bool is_same_shard(const char *a, const char *b) {
    return !strcmp(a, b) || (!url_is_url(a) && !url_is_url(b) && lead_to_one_file(a, b));
}

static int compare_names(const void *a, const void *b) {
    return strcmp(path_name(*(char *const *)a), path_name(*(char *const *)b));
}

recmap_status shard_listing_init(struct shard_listing *listing, const recmap_shards *shards,
                                 recmap_error *error) {
    size_t count = recmap_shards_count(shards);
    *listing = (struct shard_listing){calloc(count, sizeof *listing->paths), count,
                                      calloc(count, sizeof *listing->is_shared), false};
    if (!listing->paths || !listing->is_shared) return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        listing->paths[i] = (char *)(uintptr_t)recmap_shards_path(shards, i);
    qsort(listing->paths, count, sizeof *listing->paths, compare_names);
    return RECMAP_OK;
}

void shard_listing_deinit(struct shard_listing *listing) {
    free(listing->paths);
    free(listing->is_shared);
}

/* The place of the shard in the listing, or the number of shards. */
static size_t listing_find(const struct shard_listing *listing, char *path) {
    size_t low = 0, high = listing->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&listing->paths[middle], &path) < 0) low = middle + 1;
        else high = middle;
    }
    for (; low < listing->count && !compare_names(&listing->paths[low], &path); low++)
        if (is_same_shard(listing->paths[low], path)) return low;
    for (size_t i = 0; listing->follows_links && i < listing->count; i++)
        if (is_same_shard(listing->paths[i], path)) return i;
    return listing->count;
}

void shard_overlap_deinit(struct shard_overlap *overlap) {
    for (size_t i = 0; i < overlap->count; i++) free(overlap->paths[i]);
    free(overlap->paths);
}

static recmap_status overlap_add(struct shard_overlap *overlap, const char *name,
                                 const char *folder, struct shard_listing *listing,
                                 recmap_error *error) {
    char *path = shard_name_is_absolute(name) ? strdup(name) : path_join(folder, name);
    if (!path) return fail_memory(error);
    overlap->paths[overlap->count++] = path;
    size_t place = listing_find(listing, path);
    if (place == listing->count) {
        overlap->other_count++;
        listing->follows_links = false; /* the index is not used: save the time */
        overlap->gone_count += !url_is_url(path) && !is_there(path);
    } else if (!listing->is_shared[place]) {
        overlap->shared_count++;
        listing->is_shared[place] = true;
    }
    return interrupt_check(thread_interrupt(), PATH_WORK, error);
}

/* The parts of a file that grew are shards of the index: `seen` has the last part of each file. */
static recmap_status add_files(struct shard_overlap *overlap, bool *seen,
                               const struct index_file *index, struct shard_listing *listing,
                               recmap_error *error) {
    char *folder = NULL;
    bool is_elsewhere;
    RETURN_IF_FAILED(index_find_folder(&folder, &is_elsewhere, index, error));
    const struct index_shard *shard = index_shards(index);
    const struct index_shard *end = shard + index_manifest(index)->shard_count;
    recmap_status status = RECMAP_OK;
    for (; status == RECMAP_OK && shard < end; shard++) {
        if (seen[shard->last_part]) continue;
        seen[shard->last_part] = true;
        status = overlap_add(overlap, shard->entry.path, folder, listing, error);
    }
    free(folder);
    return status;
}

static recmap_status overlap_fill(struct shard_overlap *overlap, const struct index_file *index,
                                  struct shard_listing *listing, recmap_error *error) {
    size_t count = (size_t)index_manifest(index)->shard_count + 1;
    bool *seen = calloc(count, sizeof *seen);
    *overlap = (struct shard_overlap){.paths = calloc(count, sizeof *overlap->paths)};
    memset(listing->is_shared, 0, listing->count * sizeof *listing->is_shared);
    recmap_status status = overlap->paths && seen ? add_files(overlap, seen, index, listing, error)
                                                  : fail_memory(error);
    free(seen);
    return status;
}

static bool is_fatal(recmap_status status) {
    return status == RECMAP_NO_MEMORY || status == RECMAP_CANCELLED;
}

recmap_status shard_overlap_init(struct shard_overlap *overlap, bool *is_readable, const char *path,
                                 struct shard_listing *listing, recmap_error *error) {
    struct index_file *index = NULL;
    *overlap = (struct shard_overlap){0};
    recmap_status status = index_open(&index, path, NULL, error);
    *is_readable = status == RECMAP_OK;
    if (status != RECMAP_OK) return is_fatal(status) ? status : RECMAP_OK;
    status = overlap_fill(overlap, index, listing, error);
    index_close(index);
    return status;
}

bool shard_overlap_has_name(const struct shard_overlap *overlap, const char *path, size_t count,
                            index_name_writer *write) {
    char name[PATH_SIZE];
    return count && write(name, sizeof name, overlap->paths, count, NULL) == RECMAP_OK &&
           !strcmp(path_name(name), path_name(path));
}
