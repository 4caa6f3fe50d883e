/* Spans of compressed shards, inflated when they are first wanted and kept as long as there is
 * room: which were used longest ago go first. Threads that want the same span wait for the one that
 * inflates it. */
#ifndef RECMAP_DATASET_SPAN_CACHE_H
#define RECMAP_DATASET_SPAN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/dataset.h>

struct span_cache;

struct span_key {
    uint32_t shard_index;
    uint64_t offset; /* in the shard's image */
};

/* What a span, or a piece of a long one, inflates to. While somebody has it pinned it stays. */
struct span {
    uint8_t *data; /* malloc'ed */
    size_t size;   /* less than is due where the stream is damaged; then `error` says how */
    recmap_error error;
    uint64_t passed_size; /* bytes that were inflated on the way, and not kept */
    bool is_passing;      /* the failure may be another one next time: not to be kept */
};

/* NULL when memory is out. `keep_size`: bytes of the spans that are kept, 0 being a default; pinned
 * ones can exceed it. */
struct span_cache *span_cache_create(uint64_t keep_size);
void span_cache_destroy(struct span_cache *cache);

/* The span, pinned; `fill` makes it if it is not there. Threads: any. Fork: a child may go on.
 * NULL when memory is out. */
const struct span *span_cache_pin(struct span_cache *cache, struct span_key key,
                                  void (*fill)(struct span *filled, void *context), void *context);
void span_cache_unpin(struct span_cache *cache, const struct span *pinned);

uint64_t span_cache_keep_size(const struct span_cache *cache);
recmap_span_statistics span_cache_statistics(const struct span_cache *cache);

#endif
