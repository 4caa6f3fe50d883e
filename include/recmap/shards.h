/* A list of shard files, as users name them: files, globs, folders and list files. */
#ifndef RECMAP_SHARDS_H
#define RECMAP_SHARDS_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Paths of shards. Threads: a list belongs to one thread at a time. */
typedef struct recmap_shards recmap_shards;

/* An empty list. Errors: NO_MEMORY. The caller destroys it; NULL may be destroyed. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_create(recmap_shards **shards,
                                                               recmap_error *error);
RECMAP_API void recmap_shards_destroy(recmap_shards *shards);

/* Adds what `name` stands for; what exists under a name goes before what it could mean:
 *   a FILE that exists  itself, in the order given;
 *   a GLOB (* ? [..])   the files it matches but `*.rmx` and `*.rmx.tmp-...`, in natural order
 *                       (part-2 before part-10);
 *   a FOLDER            its own regular files in natural order, but hidden ones, `_...`, `*.rmx`,
 *                       `*.idx`, `*.json`, `*.crc` and temporary ones (`*.tmp`, `*.tmp-...`, `*~`);
 *   NAME@N[END]         the N files NAME-00000-of-0000N[END] and so on, as TFX and others name the
 *                       shards of a set; all must be there;
 *   @LISTFILE           one such name a line; empty lines and lines that begin with # are skipped;
 *                       relative names are relative to the list file's folder.
 * Links to files count as files, also broken ones: reading them reports what is missing.
 *
 * Errors: INVALID when nothing is there or nothing matches, naming it; IO when a folder or list
 * file cannot be read. The list is unchanged then. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_add(recmap_shards *shards, const char *name,
                                                            recmap_error *error);

/* How many there are. */
RECMAP_API size_t recmap_shards_count(const recmap_shards *shards);

/* The path of shard `index`, as named or found; NULL out of range. Valid until the next add. */
RECMAP_API const char *recmap_shards_path(const recmap_shards *shards, size_t index);

/* What folders that were added hold beside shards: hidden, temporary and companion files, such as
 * _SUCCESS, but no indexes of recmap. Folder by folder, in natural order; paths as above. */
RECMAP_API size_t recmap_shards_left_out_count(const recmap_shards *shards);
RECMAP_API const char *recmap_shards_left_out_path(const recmap_shards *shards, size_t index);

/* Where the index of these shards goes when no name is given, beside the first shard: one file
 * gives its name without extensions, several their common beginning without digits and separators
 * at its end, nothing in common the folder's name; `.rmx` is added. Writes at most `capacity` bytes
 * with the NUL. Errors: INVALID for an empty list or a `capacity` that is too small. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_index_path(char *path, size_t capacity,
                                                                   const recmap_shards *shards,
                                                                   recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
