/* Element counts that are likely mistakes. */
#ifndef RECMAP_TOOLS_INDEXING_COUNTED_H
#define RECMAP_TOOLS_INDEXING_COUNTED_H

#include <recmap/dataset.h>
#include <recmap/index.h>

/* Prints a message for each counted feature of the index, just built, of which no record has
 * elements, or whose values are bytes that count 1 whatever their length. */
void counted_warn(const char *path, const recmap_index_summary *summary,
                  const recmap_index_options *options,
                  const recmap_dataset_options *dataset_options);

#endif
