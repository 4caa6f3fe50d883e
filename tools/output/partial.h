/* Temporary files beside the file they will replace. A temporary file is locked while its writer
 * has it open, so an unlocked one was left by a process that died, and can be removed. */
#ifndef RECMAP_TOOLS_OUTPUT_PARTIAL_H
#define RECMAP_TOOLS_OUTPUT_PARTIAL_H

#include <sys/types.h>

/* Removes abandoned temporary files of `target`, then creates and locks TARGET.tmp-<16 hex digits>.
 * Returns its descriptor and sets *path to its malloc'ed path, or returns -1 with errno. */
int partial_create(char **path, const char *target, mode_t mode);

#endif
