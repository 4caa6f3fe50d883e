/* Finding files in folders and their subfolders by a pattern. */
#ifndef RECMAP_BASE_OS_TREE_H
#define RECMAP_BASE_OS_TREE_H

#include "base/os/list.h"

/* Adds the files that match a pattern (see path_pattern.h), each once, in unspecified order, and
 * broken links. A slash at the end matches no file, unless after `**`. `**` does not follow links
 * to folders; other components do. Wildcards never match `.` and `..`. No match is not an error.
 * Asks the thread's interrupt. */
recmap_status tree_list(struct path_list *list, const char *pattern, path_filter filter,
                        recmap_error *error);

#endif
