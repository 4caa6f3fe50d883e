#include "dataset/batch/probe.h"

#include "base/core/error.h"
#include "dataset/open/dataset.h"

/* Finds out if the index can locate the record and its shard can be opened. */
static recmap_status reach(recmap_dataset *dataset, uint64_t number) {
    struct index_place place;
    RETURN_IF_FAILED(dataset_find_place(&place, dataset, number, NULL));
    struct open_shard *shard;
    recmap_status status = dataset_pin_shard(&shard, dataset, place.shard_index, NULL);
    if (status == RECMAP_OK) shard_cache_unpin(shard);
    return status;
}

recmap_status dataset_probe(bool *is_damaged, recmap_dataset *dataset, uint64_t number,
                            recmap_error *error) {
    recmap_record record;
    recmap_status status = recmap_dataset_get(&record, dataset, number, error);
    if (status == RECMAP_OK) {
        recmap_record_release(&record);
        *is_damaged = false;
        return RECMAP_OK;
    }
    if (status != RECMAP_CORRUPT || reach(dataset, number) != RECMAP_OK) return status;
    *is_damaged = true;
    return RECMAP_OK;
}
