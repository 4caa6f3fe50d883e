/* Shards that the names of other shards say exist, but that are not listed. */
#ifndef RECMAP_DATASET_DESCRIBE_MISSING_SHARDS_H
#define RECMAP_DATASET_DESCRIBE_MISSING_SHARDS_H

#include <recmap/dataset.h>

/* As recmap_dataset_find_missing_shards, for the shards with these paths. Errors: NO_MEMORY. */
recmap_status missing_shards_find(recmap_missing_shards *missing, char *const *paths, size_t count,
                                  recmap_error *error);

#endif
