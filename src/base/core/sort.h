/* Sorting that can be interrupted. */
#ifndef RECMAP_BASE_CORE_SORT_H
#define RECMAP_BASE_CORE_SORT_H

#include <stddef.h>

#include <recmap/status.h>

/* Sorts as qsort does, with memory for a second copy of the items, and asks the thread's interrupt
 * every few thousand items. After an error the items are in any order, and some may occur twice.
 * Errors: NO_MEMORY, CANCELLED. */
recmap_status sort_items(void *items, size_t count, size_t item_size,
                         int (*compare)(const void *a, const void *b), recmap_error *error);

#endif
