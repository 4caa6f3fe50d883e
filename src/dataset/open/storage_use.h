/* How a data set uses the storage of its shards. */
#ifndef RECMAP_DATASET_OPEN_STORAGE_USE_H
#define RECMAP_DATASET_OPEN_STORAGE_USE_H

#include <recmap/dataset.h>

/* Records of a remote shard that are this close to each other share a request: see
 * storage/protocol/request_gap.h. Any thread may call it. */
uint64_t dataset_request_gap(const recmap_dataset *dataset, uint32_t shard_index);

#endif
