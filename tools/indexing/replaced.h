/* The index that a new one replaces. */
#ifndef RECMAP_TOOLS_INDEXING_REPLACED_H
#define RECMAP_TOOLS_INDEXING_REPLACED_H

#include <recmap/dataset.h>
#include <recmap/index.h>

/* Prints an error unless the index at `path` may be replaced by one with these options: it has no
 * annotated columns but those that are lifted now. A file that is not there or is damaged may be
 * replaced, but not an index that cannot be read here, because of its version, framing or
 * permissions, for example. Prints a message if the new index will lack ids, lifted columns or
 * counts of the old one. Returns an exit status. */
int replaced_check(const char *path, const recmap_index_options *options,
                   const recmap_dataset_options *dataset_options);

/* The same without the message, for an index whose contents the user did not choose by options. */
int replaced_check_annotated(const char *path, const recmap_index_options *options,
                             const recmap_dataset_options *dataset_options);

#endif
