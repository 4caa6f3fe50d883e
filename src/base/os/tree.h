/* Finding files in folders and their subfolders: recursive patterns. */
#ifndef RECMAP_BASE_OS_TREE_H
#define RECMAP_BASE_OS_TREE_H

#include "base/os/list.h"

/* Adds the files that match a pattern with `**` (see path_pattern.h), each once, in unspecified
 * order. A slash after another component at the end matches no file. `**` does not follow links to
 * folders; other components do. No match is not an error. */
recmap_status tree_list(struct path_list *list, const char *pattern, path_filter filter,
                        recmap_error *error);

#endif
