/* Copying bytes of a compressed shard out of its spans, which are inflated if they are neither
 * stored on the local disk nor in memory. */
#ifndef RECMAP_DATASET_SPANS_SPAN_READ_H
#define RECMAP_DATASET_SPANS_SPAN_READ_H

#include "dataset/spans/stored_spans.h"

struct span_reader {
    struct span_cache *cache;
    struct span_source source;
    uint32_t shard_index;
    struct stored_spans *stored; /* NULL: inflated spans are kept in memory only */
};

/* Errors: those of the spans; NO_MEMORY; CANCELLED if the thread's interrupt says so. */
recmap_status span_read(const struct span_reader *reader, uint8_t *data, size_t size,
                        uint64_t offset, recmap_error *error);

/* Copies many frames to `data`, one after another. Neighbours in one span share its pin, and later
 * frames are prefetched meanwhile. A few spans are pinned at once, but never a large one in
 * advance. */
recmap_status span_read_frames(const struct span_reader *reader, uint8_t *data,
                               const struct index_place *places, size_t count, recmap_error *error);

#endif
