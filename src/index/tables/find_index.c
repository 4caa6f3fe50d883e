/* Finds the index of a list of shards: under its default name, under recmap 0.2.0's default name,
 * or under the name that it got when the list was shorter. */
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "format/shards/index_name.h"
#include "index/tables/partial_index.h"

enum { PATH_SIZE = 4096 };

static bool is_there(const char *path) {
    struct file_stat stat;
    return file_stat_path(&stat, path);
}

/* Finds out if the index at the old path is to be used. One that cannot be read is: it may have
 * columns that exist nowhere else, so it must not be ignored. An index of some of the shards is
 * extended, unless the path is its default name: then it may be the index of these shards alone. */
static recmap_status check_old(bool *is_used, const char *path, struct shard_listing *listing,
                               recmap_error *error) {
    struct shard_overlap overlap;
    bool is_readable;
    listing->follows_links = true;
    recmap_status status = shard_overlap_init(&overlap, &is_readable, path, listing, error);
    listing->follows_links = false;
    bool is_of_list = overlap.count && !overlap.other_count;
    *is_used =
        !is_readable ||
        (is_of_list && (overlap.shared_count == listing->count ||
                        !shard_overlap_has_name(&overlap, path, overlap.count, index_name_write)));
    shard_overlap_deinit(&overlap);
    return status;
}

static recmap_status find_old(bool *is_found, char *path, size_t capacity,
                              const recmap_shards *shards, struct shard_listing *listing,
                              recmap_error *error) {
    char old[PATH_SIZE];
    if (recmap_shards_old_index_path(old, sizeof old, shards, NULL) != RECMAP_OK ||
        !strcmp(old, path) || !is_there(old) || strlen(old) >= capacity)
        return RECMAP_OK;
    RETURN_IF_FAILED(check_old(is_found, old, listing, error));
    if (*is_found) memcpy(path, old, strlen(old) + 1);
    return RECMAP_OK;
}

recmap_status recmap_shards_find_index(char *path, size_t capacity, const recmap_shards *shards,
                                       recmap_error *error) {
    struct shard_listing listing;
    bool is_found = false;
    RETURN_IF_FAILED(recmap_shards_index_path(path, capacity, shards, error));
    if (is_there(path)) return RECMAP_OK;
    recmap_status status = shard_listing_init(&listing, shards, error);
    if (status == RECMAP_OK) status = find_old(&is_found, path, capacity, shards, &listing, error);
    if (status == RECMAP_OK && !is_found)
        status = partial_index_find(path, capacity, &listing, error);
    shard_listing_deinit(&listing);
    return status;
}
