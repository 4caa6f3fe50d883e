/* Separates the shards of a listing from the files beside them, by their names. */
#ifndef RECMAP_FORMAT_SHARDS_SIFT_H
#define RECMAP_FORMAT_SHARDS_SIFT_H

#include <recmap/storage.h>

#include "base/os/list.h"

/* What the shards hold: only shards of lines have names of text files. */
enum sift_contents { SIFT_TFRECORDS, SIFT_LINES, SIFT_OTHERS };

struct sift {
    enum sift_contents contents;
    recmap_storage *storage;    /* to read objects with; NULL: the defaults */
    struct path_list *left_out; /* the other files */
    struct path_list *notes;    /* which of them may have been meant */
};

/* Moves the files of a folder that are not shards, from path `first` of `list` on, to `left_out`.
 * Both keep their order. If there are text files, and other files that no name tells to be shards,
 * the contents of those decide. Backups of shards are noted. Errors: INVALID if nothing decides; as
 * shard_source_open. */
recmap_status sift_folder(struct path_list *list, size_t first, const char *folder,
                          const struct sift *sift, recmap_error *error);

/* The same for the files that match a pattern: temporary files and those in temporary folders are
 * not shards; nor are files that accompany shards, if others match. A pattern that ends in a
 * component `*` or `**` means the files of folders: then text files beside shards of records are
 * not shards either. Errors: NO_MEMORY. */
recmap_status sift_matches(struct path_list *list, size_t first, const char *pattern,
                           const struct sift *sift, recmap_error *error);

#endif
