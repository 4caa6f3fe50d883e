/* Reading bytes of a file once more, because what was read seems to be damaged. A fault of the
 * device, the network or the memory may have changed them on the way here. The kernel may keep such
 * bytes in its page cache, so they are read past it if the file system allows that. */
#ifndef RECMAP_BASE_OS_READ_AGAIN_H
#define RECMAP_BASE_OS_READ_AGAIN_H

#include "base/os/file.h"

/* Reads as file_read_at. The descriptor must not be used for other reads afterwards. */
recmap_status file_read_again(int fd, void *data, size_t size, uint64_t offset, const char *path,
                              recmap_error *error);

/* Sets `is_equal` to whether the file has the same bytes. `fd` as above. */
recmap_status file_compare_again(bool *is_equal, int fd, const void *data, uint64_t size,
                                 uint64_t offset, const char *path, recmap_error *error);

/* Asks the kernel to drop what its page cache has of the range. A hint: it never fails. */
void file_forget(int fd, uint64_t offset, uint64_t size);

/* The error for bytes that differ between two reads, so that neither can be trusted. `path` may be
 * NULL. Status IO: skipping what may be good would lose it. */
recmap_status fail_differing(recmap_error *error, const char *path, const char *what);

#endif
