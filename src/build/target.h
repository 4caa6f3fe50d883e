/* The place where an index goes, and what may be there already. */
#ifndef RECMAP_BUILD_TARGET_H
#define RECMAP_BUILD_TARGET_H

#include <recmap/status.h>

/* An index replaces what is at its path; that must be nothing, an index, or at least a file named
 * as one, not a shard whose name slipped into its place. Errors: INVALID naming the file; IO. */
recmap_status target_check(const char *path, recmap_error *error);

#endif
