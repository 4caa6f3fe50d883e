/* The size of the machine's memory, and memory for direct reads from a device: whole pages, and
 * huge pages for large sizes, because a device handles every physically discontiguous page as a
 * separate piece. */
#ifndef RECMAP_BASE_MEMORY_MEMORY_H
#define RECMAP_BASE_MEMORY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes of memory this process can use, its page cache included: the machine's, or fewer
 * if a control group limits the process. */
uint64_t memory_size(void);

/* Replaces the result of memory_size, for tests; 0: the real one again. */
void memory_force_size(uint64_t size);

/* The memory used by an allocation of `size` bytes, or SIZE_MAX if that overflows. */
size_t pages_size(size_t size);

/* Page-aligned memory for free(), or NULL if memory runs out. */
uint8_t *pages_allocate(size_t size);

#endif
