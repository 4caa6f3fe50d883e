/* Shards that are named instead of their index, which is opened, extended or built. */
#ifndef RECMAP_TOOLS_INDEXING_SHARD_OPERAND_H
#define RECMAP_TOOLS_INDEXING_SHARD_OPERAND_H

#include <recmap/dataset.h>

#include "terminal/args.h"

/* Returns true if the first operand names shards: a file that is not an index, a folder, a pattern,
 * a set (NAME@N), a list (@FILE), or a URL that does not end in .rmx. */
bool shard_operand_is_named(const struct args *args);

/* Opens the index of these shards, as recmap.open of the Python package does: the index at their
 * default path, to which shards that it lacks are appended, or else a new one. Sets `path`, which
 * the caller frees, to the path of the index. Returns 0, or the exit status after printing the
 * error. */
int shard_operand_open(recmap_dataset **dataset, char **path, const struct args *args);

#endif
