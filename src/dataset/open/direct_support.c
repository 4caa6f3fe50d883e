#include "dataset/open/direct_support.h"

#include "base/os/ring.h"
#include "dataset/open/dataset.h"

bool dataset_find_alignment(uint32_t *alignment, recmap_dataset *dataset, uint32_t shard_index) {
    struct open_shard *shard;
    if (dataset_pin_shard(&shard, dataset, shard_index, NULL) != RECMAP_OK) return false;
    int fd = open_shard_direct(alignment, shard);
    shard_cache_unpin(shard);
    return fd >= 0;
}

/* Checks the first uncompressed shard only: shards usually lie on one file system. If another one
 * does not support direct reads, its batches are gathered. */
static bool shards_allow(recmap_dataset *dataset) {
    const struct index_shard *shards = dataset->shard_table;
    uint32_t alignment;
    for (uint32_t i = 0; i < dataset->info.shard_count; i++)
        if (shards[i].entry.compression == COMPRESSION_NONE && shards[i].entry.record_count)
            return dataset_find_alignment(&alignment, dataset, i);
    return false;
}

bool dataset_supports_direct(recmap_dataset *dataset) {
    if (dataset->access != RECMAP_ACCESS_DIRECT) return false;
    struct read_ring *tried = ring_create(1);
    ring_destroy(tried);
    return tried && shards_allow(dataset);
}
