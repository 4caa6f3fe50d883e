/* The default names of indexes. */
#ifndef RECMAP_FORMAT_SHARDS_INDEX_NAME_H
#define RECMAP_FORMAT_SHARDS_INDEX_NAME_H

#include <stdbool.h>

#include <recmap/status.h>

/* Writes the default path of the index of these shards: see recmap_shards_index_path. `count` is
 * not 0. Errors: INVALID if it does not fit; IO, NO_MEMORY. */
recmap_status index_name_write(char *path, size_t capacity, char *const *shards, size_t count,
                               recmap_error *error);

/* The same of recmap 0.2.0: the common prefix of the names, or one name up to its first dot. */
recmap_status index_name_write_old(char *path, size_t capacity, char *const *shards, size_t count,
                                   recmap_error *error);

/* Returns true if the shards are not all in one folder. `count` is not 0. */
bool index_name_spans_folders(char *const *shards, size_t count);

#endif
