/* The kernel's cache of files in memory: how much it can hold, and what it holds. */
#ifndef RECMAP_BASE_MEMORY_PAGE_CACHE_H
#define RECMAP_BASE_MEMORY_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes of files memory can hold now for this process, those included that it holds: what
 * is available on the machine, or less if a control group limits the process. With `spares_mapped`,
 * files that processes have mapped are to stay, and do not count as available. 0 if the kernel does
 * not say. */
uint64_t page_cache_size(bool spares_mapped);

/* Copies bytes of a file from its start on as far as they are in memory. Returns how many; none if
 * the kernel cannot tell. Waits for no device. */
size_t page_cache_read(int fd, void *data, size_t size, uint64_t offset);

/* Returns true if the file is on a file system of this machine's disks that caches what it reads:
 * not on a network, not in user space, and not a layer over others, which may be anything. */
bool file_is_on_disk(int fd);

#endif
