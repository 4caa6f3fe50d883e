/* Support for direct reads, which bypass the page cache. */
#ifndef RECMAP_DATASET_OPEN_DIRECT_SUPPORT_H
#define RECMAP_DATASET_OPEN_DIRECT_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/dataset.h>

/* Returns true if the data set was opened with RECMAP_ACCESS_DIRECT and both the kernel and the
 * file system support it. Opens one shard to find out. */
bool dataset_supports_direct(recmap_dataset *dataset);

/* Sets the alignment in bytes of direct reads of a shard. Returns false if the shard cannot be
 * opened for direct reads. */
bool dataset_find_alignment(uint32_t *alignment, recmap_dataset *dataset, uint32_t shard_index);

#endif
