/* Memory for direct reads from a device: whole pages, and huge pages for large sizes, because a
 * device handles every physically discontiguous page as a separate piece. */
#ifndef RECMAP_OS_MEMORY_H
#define RECMAP_OS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* The memory used by an allocation of `size` bytes, or SIZE_MAX if that overflows. */
size_t pages_size(size_t size);

/* Page-aligned memory for free(), or NULL if memory runs out. */
uint8_t *pages_allocate(size_t size);

#endif
