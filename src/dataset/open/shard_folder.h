/* Where the shards of an index are: their names in the index, as paths and URLs. Relative names are
 * relative to the index's folder, or to a folder or URL that replaces it. Names that could lead
 * elsewhere are opened only if the options allow it. */
#ifndef RECMAP_DATASET_OPEN_SHARD_FOLDER_H
#define RECMAP_DATASET_OPEN_SHARD_FOLDER_H

#include <stdatomic.h>

#include <recmap/storage.h>

#include "format/shards/shard_source.h"
#include "index/tables/index.h"

/* The data set's options of these names. */
struct shard_folder_options {
    const char *shards; /* replaces the index's folder; only used by shard_folder_init */
    bool allow_absolute_paths;
    bool allow_urls;
    bool allow_missing_shards;
    recmap_storage *storage; /* NULL: the defaults */
};

struct shard_folder {
    const struct index_file *index;
    struct shard_folder_options options;
    char *path;           /* of relative names; a path or a URL */
    bool is_moved;        /* options.shards replaces the index's folder */
    bool may_be_flat;     /* shards could be told apart without their folders */
    atomic_bool is_flat;  /* options.shards has the shards without their folders */
    bool is_elsewhere;    /* `path` is the folder of the file that a link to the index leads to */
    size_t common_length; /* of the prefix of absolute names that it replaces, or 0 */
    recmap_storage *storage; /* NULL if no shard is in a remote store */
};

/* Also checks the names of all shards, and looks for a few of the files. `index` must outlive the
 * folder. On failure, too, the folder must be deinitialised. Errors: NO_MEMORY, INVALID (a name
 * that is not allowed), IO (no shard is where the index expects it), and those of the storage. */
recmap_status shard_folder_init(struct shard_folder *folder, const struct index_file *index,
                                const struct shard_folder_options *options, recmap_error *error);
void shard_folder_deinit(struct shard_folder *folder);

/* The path by which errors name a shard: relative to the working directory if the caller's path of
 * the index was and the shards are beside it, or the object's URL without credentials. The caller
 * frees it. NULL: memory ran out. */
char *shard_folder_find_path(const struct shard_folder *folder, const char *name);

/* Writes that path, truncated to `capacity`. */
void shard_folder_write_path(char *path, size_t capacity, const struct shard_folder *folder,
                             const char *name);

/* Opens a shard's file or object by its name in the index, if the name is allowed. `path`, by which
 * errors name it, must outlive the source. `expected` is the version of an object, or NULL: see
 * remote_open. Errors: IO, INVALID, CORRUPT (a name that leaves the index's folder), and those of
 * remote_open. A name that is not allowed is given as it is in the index. */
recmap_status shard_folder_open(struct source **source, struct shard_folder *folder,
                                const char *name, const char *path,
                                const struct remote_identity *expected, recmap_error *error);

/* The URL of a shard; the caller frees it. NULL: it is a local file, or memory ran out. */
char *shard_folder_find_url(const struct shard_folder *folder, const char *name);

/* Adds where the shard was expected to the error of a local shard that does not exist. */
void shard_folder_advise(const struct shard_folder *folder, const char *name, recmap_error *error);

#endif
