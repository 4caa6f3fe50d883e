#include "indexing/missing_shards.h"

#include <inttypes.h>

#include "terminal/message.h"

void missing_shards_warn(const char *path, const recmap_dataset_options *dataset_options) {
    recmap_dataset_options opening = *dataset_options;
    recmap_dataset *dataset = NULL;
    recmap_missing_shards missing;
    opening.allow_absolute_paths = opening.allow_urls = opening.allow_missing_shards = 1;
    if (recmap_dataset_open(&dataset, path, &opening, NULL) == RECMAP_OK &&
        recmap_dataset_find_missing_shards(&missing, dataset, NULL) == RECMAP_OK && missing.count)
        message("%" PRIu64 " shard%s missing, by the names of the others: %s%s", missing.count,
                missing.count == 1 ? " is" : "s are", missing.first,
                missing.count == 1 ? "" : ", ...");
    recmap_dataset_close(dataset);
}
