/* Growing an array that its owner holds as pointer, count and capacity. */
#ifndef RECMAP_BASE_ARRAY_H
#define RECMAP_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `needed` items of `item_size` bytes, at least doubling. `*items` is a pointer to
 * the items. False when memory is out; everything is as it was then. */
bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size);

#endif
