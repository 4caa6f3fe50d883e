/* How much memory control groups let this process use: its own group and the groups that contain
 * it, of version 1 or 2. Each call reads the files again, because limits change. */
#ifndef RECMAP_BASE_MEMORY_CONTROL_GROUP_H
#define RECMAP_BASE_MEMORY_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The lowest limit, or UINT64_MAX. */
uint64_t control_group_limit(void);

/* How many bytes of files the groups could hold in memory: the lowest limit, without what else they
 * hold. Files in shared memory count as something else, and with `spares_mapped` mapped files too.
 * UINT64_MAX without a limit. */
uint64_t control_group_file_room(bool spares_mapped);

/* Opens a file of the kernel, such as /proc/meminfo, for reading. NULL: there is none. */
FILE *kernel_file_open(const char *path);

/* Makes `folder` the root of the paths of all files that are read here, for tests; NULL: the real
 * one again. The text must stay valid. */
void kernel_file_force_root(const char *folder);

#endif
