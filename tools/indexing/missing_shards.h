/* Shards that an index lacks by the names of those it has. */
#ifndef RECMAP_TOOLS_INDEXING_MISSING_SHARDS_H
#define RECMAP_TOOLS_INDEXING_MISSING_SHARDS_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Prints a message about the missing shards of the index, just built, and one about surplus ones,
 * if there are any; if it `is_new`, and not appended to, also one about ids that repeat very often.
 * Others are not missed if `is_alone`: a single shard was named itself. */
void missing_shards_warn(const char *path, bool is_alone, bool is_new,
                         const recmap_dataset_options *dataset_options);

#endif
