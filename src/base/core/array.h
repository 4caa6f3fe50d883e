/* Grows an array that its owner stores as pointer, count and capacity. */
#ifndef RECMAP_BASE_CORE_ARRAY_H
#define RECMAP_BASE_CORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Ensures room for `needed` items of `item_size` bytes. `items` is the address of the pointer to
 * the items. The capacity at least doubles when it grows. Returns false if memory runs out;
 * everything is then unchanged. */
bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item_size);

#endif
