/* Indexes in remote stores. */
#ifndef RECMAP_DATASET_OPEN_REMOTE_INDEX_H
#define RECMAP_DATASET_OPEN_REMOTE_INDEX_H

#include <recmap/dataset.h>

#include "index/tables/index.h"

/* Copies an index from its URL into an unnamed temporary file, checks all of it, and opens it. With
 * a cache, its bytes come from there if the object has not changed. Uses the storage and the cache
 * of `options`. Errors: those of remote_open, source_take_file and index_open. */
recmap_status remote_index_open(struct index_file **index, const char *url,
                                const recmap_dataset_options *options, recmap_error *error);

#endif
