/* The errors for folders and patterns that lead to no shards. */
#ifndef RECMAP_FORMAT_SHARDS_NO_SHARDS_H
#define RECMAP_FORMAT_SHARDS_NO_SHARDS_H

#include <recmap/status.h>

#include "base/os/list.h"

/* The error for a folder. Names one of the files whose names keep them from being shards, which are
 * those of `left_out` from `first` on, apart from hidden ones. Returns INVALID. */
recmap_status no_shards_fail_folder(const char *folder, const struct path_list *left_out,
                                    size_t first, recmap_error *error);

/* The error for a pattern or a URL. If files match but were left out, which are those of `left_out`
 * from `first` on, one of them replaces the advice. The errno is ENOENT, so that bindings raise the
 * fitting exception of their language. Returns INVALID. */
recmap_status no_shards_fail(const char *name, const char *what, const char *advice,
                             const struct path_list *left_out, size_t first, recmap_error *error);

#endif
