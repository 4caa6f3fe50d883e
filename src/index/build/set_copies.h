/* Copies of the sets that an index has, by their names. */
#ifndef RECMAP_INDEX_BUILD_SET_COPIES_H
#define RECMAP_INDEX_BUILD_SET_COPIES_H

#include "index/build/named_shards.h"

/* Rejects a set of which an index has a copy, as a list of names is rejected that has both. Shards
 * that are named without an index were compared when they were listed. Errors: INVALID; NO_MEMORY;
 * CANCELLED. */
recmap_status set_copies_check(const struct named_shards *list, recmap_error *error);

#endif
