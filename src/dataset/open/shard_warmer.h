/* Warming shards: reading parts of them to where later reads find them. These are the page cache,
 * or the cache on the local disk, for objects of remote stores and for what compressed shards
 * inflate to. */
#ifndef RECMAP_DATASET_OPEN_SHARD_WARMER_H
#define RECMAP_DATASET_OPEN_SHARD_WARMER_H

#include "dataset/open/shard_cache.h"

/* Where the bytes of a shard can be kept. FULL: only in a cache on the disk, which takes no more.
 */
enum warm_place { WARM_IN_MEMORY, WARM_ON_DISK, WARM_FULL, WARM_NOWHERE };

/* One thread's means of warming, with one shard at a time. */
struct shard_warmer {
    struct open_shard *shard; /* pinned; NULL: none */
    enum warm_place place;
    struct source *file;      /* of a shard that is warmed in memory */
    uint64_t inflated_offset; /* of the span that was inflated last */
    uint8_t *buffer;
    size_t buffer_size;
};

#define SHARD_WARMER_INIT                                                                          \
    { NULL, WARM_NOWHERE, NULL, UINT64_MAX, NULL, 0 }

struct warm_counts {
    uint64_t read_size;    /* bytes that were read, or inflated */
    uint64_t present_size; /* bytes that were there already */
    bool is_full;          /* the cache on the disk took no more */
};

/* Goes to another shard, whose pin it takes, even on failure. The warmer needs another file than
 * that of the shard, because that one may be mapped, or be read at random. Errors: NO_MEMORY; as
 * when a shard is opened. */
recmap_status shard_warmer_enter(struct shard_warmer *warmer, struct open_shard *shard,
                                 recmap_error *error);

/* Returns true if the shard's bytes come from a disk of this machine. */
bool shard_warmer_is_on_disk(const struct shard_warmer *warmer);

/* Warms bytes [begin, end) of the shard, or of what it inflates to, and adds to the counts, which
 * are right even after an error. Nothing happens if the shard can be kept nowhere, and nothing more
 * once the cache is full. Asks the thread's interrupt. Errors: as open_shard_read. */
recmap_status shard_warmer_read(struct warm_counts *counts, struct shard_warmer *warmer,
                                uint64_t begin, uint64_t end, recmap_error *error);

/* Releases the shard and the memory. */
void shard_warmer_deinit(struct shard_warmer *warmer);

#endif
