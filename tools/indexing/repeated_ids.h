/* Ids that are more likely to be labels. */
#ifndef RECMAP_TOOLS_INDEXING_REPEATED_IDS_H
#define RECMAP_TOOLS_INDEXING_REPEATED_IDS_H

#include <recmap/dataset.h>

/* Prints a message if the ids of the index repeat very often. */
void repeated_ids_warn(const char *path, recmap_dataset *dataset);

#endif
