/* Shards that an index lacks by the names of those it has. */
#ifndef RECMAP_TOOLS_INDEXING_MISSING_SHARDS_H
#define RECMAP_TOOLS_INDEXING_MISSING_SHARDS_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Prints a message about the missing shards of the index, just built, one about surplus ones, and
 * one about ids that repeat very often, if there are any. Others are not missed if `is_alone`: a
 * single shard was named itself. */
void missing_shards_warn(const char *path, bool is_alone,
                         const recmap_dataset_options *dataset_options);

#endif
