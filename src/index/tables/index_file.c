#include "index/tables/index_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "format/shards/shard_source.h"

recmap_status index_fail(const struct index_file *index, recmap_error *error, const char *what) {
    fail(error, RECMAP_CORRUPT, "the index is damaged or forged: %s", what);
    fail_file(error, store_path(index->store));
    fail_advise(error, "build it again with `recmap index`");
    return RECMAP_CORRUPT;
}

/* The first relative name of a shard, or NULL. */
static const char *first_relative_name(const struct index_file *index) {
    for (size_t i = 0; i < index->manifest.shard_count; i++)
        if (!shard_name_is_absolute(index->shards[i].entry.path))
            return index->shards[i].entry.path;
    return NULL;
}

recmap_status index_find_folder(char **folder, bool *is_elsewhere, const struct index_file *index,
                                recmap_error *error) {
    return path_resolve_start(folder, is_elsewhere, store_path(index->store),
                              first_relative_name(index), error);
}

recmap_status index_follow_link(char **path, const struct index_file *index, recmap_error *error) {
    char *folder;
    bool is_elsewhere;
    const char *opened = store_path(index->store);
    RETURN_IF_FAILED(index_find_folder(&folder, &is_elsewhere, index, error));
    free(folder);
    if (is_elsewhere) return path_resolve(path, opened, error);
    *path = strdup(opened);
    return *path ? RECMAP_OK : fail_memory(error);
}
