/* Finding files in folders and their subfolders: recursive patterns. */
#ifndef RECMAP_BASE_OS_TREE_H
#define RECMAP_BASE_OS_TREE_H

#include "base/os/list.h"

/* Returns whether `**` is a component of the pattern. */
bool tree_is_pattern(const char *pattern);

/* The length of the folders that the pattern names without wildcards, with the last slash. */
size_t tree_base_size(const char *pattern);

/* Adds the files that match a pattern with `**`, each once, in unspecified order. `**` means any
 * number of folders, including none; at the end of the pattern, with or without a slash, all files
 * below. A slash after another component at the end matches no file. Names that begin with a dot
 * match only components that begin with a dot. `**` does not follow links to folders; other
 * components do. No match is not an error. */
recmap_status tree_list(struct path_list *list, const char *pattern, path_filter filter,
                        recmap_error *error);

#endif
