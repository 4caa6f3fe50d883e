/* Skipping varints without decoding them. */
#ifndef RECMAP_PARSE_VARINTS_SKIP_VARINTS_H
#define RECMAP_PARSE_VARINTS_SKIP_VARINTS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the size of the first `count` varints of `size` bytes, or SIZE_MAX if there are fewer.
 * Only counts the bytes that end a varint: a varint of more than ten bytes is not detected. */
size_t skip_varints(const uint8_t *data, size_t size, uint64_t count);

/* The same, by the path for any CPU. For tests. */
size_t skip_varints_portable(const uint8_t *data, size_t size, uint64_t count);

#endif
