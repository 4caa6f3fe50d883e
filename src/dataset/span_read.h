/* Copying bytes of a compressed shard out of its spans, which are inflated where they are not kept.
 */
#ifndef RECMAP_DATASET_SPAN_READ_H
#define RECMAP_DATASET_SPAN_READ_H

#include "dataset/span.h"

struct span_reader {
    struct span_cache *cache;
    struct span_source source;
    uint32_t shard_index;
};

/* Errors: those of the spans; NO_MEMORY. */
recmap_status span_read(const struct span_reader *reader, uint8_t *data, size_t size,
                        uint64_t offset, recmap_error *error);

/* Many frames, one behind the other in `data`. Neighbours in one span share its pin, and the bytes
 * of those that follow are brought near meanwhile. A few spans are pinned at once,
 * none of the large ones. */
recmap_status span_read_frames(const struct span_reader *reader, uint8_t *data,
                               const struct index_place *places, size_t count, recmap_error *error);

#endif
