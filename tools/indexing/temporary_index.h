/* Opens shards without leaving anything beside them: with their index, or with a temporary one. */
#ifndef RECMAP_TOOLS_INDEXING_TEMPORARY_INDEX_H
#define RECMAP_TOOLS_INDEXING_TEMPORARY_INDEX_H

#include <recmap/shards.h>

#include "terminal/args.h"

/* Lists the shards that the first operand stands for, of any number of sets. Notes about them are
 * printed. The caller destroys them, also after an error. */
recmap_status temporary_index_list(recmap_shards **shards, const struct args *args,
                                   recmap_error *error);

/* Opens the index of the shards if there is one and it has all of them, else builds one that is
 * removed at once; damage is then listed in it. Sets `is_temporary` accordingly. Errors: those of
 * indexing. */
recmap_status temporary_index_open(recmap_dataset **dataset, bool *is_temporary,
                                   const recmap_shards *shards, const struct args *args,
                                   recmap_error *error);

#endif
