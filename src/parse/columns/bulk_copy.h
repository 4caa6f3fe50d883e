/* Copies bytes past the caches, for large amounts that are not read again soon. */
#ifndef RECMAP_PARSE_COLUMNS_BULK_COPY_H
#define RECMAP_PARSE_COLUMNS_BULK_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Worthwhile for at least BULK_COPY_MIN bytes in total, about half of a core's L2 cache, in values
 * of at least BULK_COPY_VALUE bytes on average. */
enum { BULK_COPY_MIN = 1 << 20, BULK_COPY_VALUE = 4096 };

/* Like memcpy. */
void bulk_copy(uint8_t *out, const uint8_t *source, size_t size);

/* Call once after the last copy, before another thread may read the bytes: streaming stores are not
 * ordered with normal ones. */
void bulk_copy_end(void);

#endif
