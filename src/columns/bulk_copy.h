/* Copying bytes that nobody reads again soon, past the caches: for more than a cache holds. */
#ifndef RECMAP_COLUMNS_BULK_COPY_H
#define RECMAP_COLUMNS_BULK_COPY_H

#include <stddef.h>
#include <stdint.h>

/* It is worth it from so many bytes in all, about what half of a core's second cache holds, of
 * values of so many. */
enum { BULK_COPY_MIN = 1 << 20, BULK_COPY_VALUE = 4096 };

/* As memcpy. */
void bulk_copy(uint8_t *out, const uint8_t *source, size_t size);

/* Once behind all copies, before another thread may hear of them. */
void bulk_copy_end(void);

#endif
