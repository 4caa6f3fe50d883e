/* Shards that an index lacks by the names of those it has. */
#ifndef RECMAP_TOOLS_INDEXING_MISSING_SHARDS_H
#define RECMAP_TOOLS_INDEXING_MISSING_SHARDS_H

#include <recmap/dataset.h>

/* Prints a message about the missing shards of the index, just built, if there are any. */
void missing_shards_warn(const char *path, const recmap_dataset_options *dataset_options);

#endif
