#include "dataset/open/storage_use.h"

#include "dataset/open/concat.h"
#include "dataset/open/dataset.h"
#include "storage/remote/storage_figures.h"

/* NULL: no shard is in a remote store. */
static recmap_storage *storage_of(const recmap_dataset *dataset) {
    return shard_cache_folder(dataset->shards)->storage;
}

uint64_t dataset_request_gap(const recmap_dataset *dataset, uint32_t shard_index) {
    if (dataset->part_count)
        return dataset_request_gap(concat_part_of_shard(dataset, shard_index)->dataset, 0);
    recmap_storage *storage = storage_of(dataset);
    return storage ? storage_gap(storage) : GAP_DEFAULT;
}

/* Parts may share a storage, which counts once. Returns true if an earlier part has that of part
 * `i`. */
static bool has_earlier(const recmap_dataset *dataset, size_t i) {
    recmap_storage *storage = storage_of(dataset->parts[i].dataset);
    for (size_t j = 0; j < i; j++)
        if (storage_of(dataset->parts[j].dataset) == storage) return true;
    return false;
}

recmap_storage_statistics recmap_dataset_storage_statistics(const recmap_dataset *dataset) {
    struct storage_figures total = {0};
    if (!dataset->part_count && storage_of(dataset))
        storage_add_figures(&total, storage_of(dataset));
    for (size_t i = 0; i < dataset->part_count; i++) {
        recmap_storage *storage = storage_of(dataset->parts[i].dataset);
        if (storage && !has_earlier(dataset, i)) storage_add_figures(&total, storage);
    }
    return storage_figures_show(&total);
}
