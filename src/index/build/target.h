/* The path of an index to be built, and what it may replace. */
#ifndef RECMAP_INDEX_BUILD_TARGET_H
#define RECMAP_INDEX_BUILD_TARGET_H

#include <recmap/status.h>

/* An index replaces the file at its path. This check protects other files, such as a shard that was
 * named by mistake: the path must be free, or a recmap index, or an empty file, or end in `.rmx`.
 * It must not end in `.rmv`, as the names of selections do. Errors: INVALID naming the file; IO. */
recmap_status target_check(const char *path, recmap_error *error);

#endif
