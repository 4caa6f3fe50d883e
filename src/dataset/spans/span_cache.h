/* A cache of inflated spans of compressed shards. A span is inflated on first use; the least
 * recently used ones are evicted. Threads that need the same span wait for the one that inflates
 * it. */
#ifndef RECMAP_DATASET_SPANS_SPAN_CACHE_H
#define RECMAP_DATASET_SPANS_SPAN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/dataset.h>

struct span_cache;

struct span_key {
    uint32_t shard_index;
    uint64_t offset; /* in the shard's image */
};

/* An inflated span, or a piece of a long one. It stays in the cache while it is pinned. */
struct span {
    uint8_t *data; /* malloc'ed */
    size_t size;   /* smaller than expected if the stream is damaged; `error` then says why */
    recmap_error error;
    uint64_t passed_size;  /* bytes that were inflated only to reach the piece, and discarded */
    uint32_t failed_check; /* of what a piece inflated to that is damaged */
    bool is_copy;          /* copied from the cache on the local disk: not inflated */
    bool is_transient;     /* another attempt may succeed: not kept, and without data not found by
                              later calls, even while it is pinned */
};

/* Returns NULL without memory. `keep_size` limits the bytes kept (0: a default); pinned spans may
 * exceed it. */
struct span_cache *span_cache_create(uint64_t keep_size);
void span_cache_destroy(struct span_cache *cache);

/* Pins the span, calling `fill` if it is not in the cache. Returns NULL without memory, or if
 * `fill` was interrupted: its error is CANCELLED. Any thread may call it, also in a forked child.
 */
const struct span *span_cache_pin(struct span_cache *cache, struct span_key key,
                                  void (*fill)(struct span *span, void *context), void *context);
void span_cache_unpin(struct span_cache *cache, const struct span *span);

uint64_t span_cache_keep_size(const struct span_cache *cache);
recmap_span_statistics span_cache_statistics(const struct span_cache *cache);

#endif
