/* Separates the shards of a listing from the files beside them, by their names. */
#ifndef RECMAP_FORMAT_SHARDS_SIFT_H
#define RECMAP_FORMAT_SHARDS_SIFT_H

#include "base/os/list.h"

/* Moves the files of a folder that are not shards, from path `first` of `list` on, to `left_out`.
 * Both keep their order. Errors: NO_MEMORY. */
recmap_status sift_folder(struct path_list *list, size_t first, struct path_list *left_out,
                          recmap_error *error);

/* The same for the files that match a pattern: only temporary files and those in temporary folders
 * are not shards. */
recmap_status sift_matches(struct path_list *list, size_t first, const char *pattern,
                           struct path_list *left_out, recmap_error *error);

#endif
