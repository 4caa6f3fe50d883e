/* Copying the values of a BYTES column into one buffer, at once or later by several threads. */
#ifndef RECMAP_PARSE_COLUMNS_BYTES_COPY_H
#define RECMAP_PARSE_COLUMNS_BYTES_COPY_H

#include <recmap/columns.h>

#include "base/core/interrupt.h"

/* Value i goes to out + offsets[i]; there are count + 1 offsets. */
struct bytes_copy {
    uint8_t *out;
    const recmap_bytes *views;
    const int64_t *offsets;
    uint64_t count;
};

/* The number of bytes to copy. */
static inline uint64_t bytes_copy_size(const struct bytes_copy *copy) {
    return (uint64_t)copy->offsets[copy->count];
}

/* Returns false if it was interrupted. */
bool bytes_copy_do(const struct bytes_copy *copy, struct interrupt *interrupt);

/* Copies one of `share_count` shares, which have about equally many bytes. Returns false if it was
 * interrupted. */
bool bytes_copy_do_share(const struct bytes_copy *copy, size_t share, size_t share_count,
                         struct interrupt *interrupt);

#endif
