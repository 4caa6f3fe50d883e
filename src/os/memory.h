/* Memory for reads that a device makes into it: whole pages, huge ones where it is large, since a
 * device is given every page that does not follow the one before as a piece of its own. */
#ifndef RECMAP_OS_MEMORY_H
#define RECMAP_OS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* What a piece of `size` bytes takes; SIZE_MAX where that is too much. */
size_t pages_size(size_t size);

/* At the start of a page, for free(); NULL when memory is out. */
uint8_t *pages_allocate(size_t size);

#endif
