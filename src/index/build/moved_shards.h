/* Shards that an index has under another path. */
#ifndef RECMAP_INDEX_BUILD_MOVED_SHARDS_H
#define RECMAP_INDEX_BUILD_MOVED_SHARDS_H

#include "index/build/named_shards.h"

/* Rejects shards of which an index has copies in another folder, as it does after all shards were
 * moved. Errors: INVALID; IO; NO_MEMORY; CANCELLED. */
recmap_status moved_shards_check(const struct named_shards *list, recmap_storage *storage,
                                 recmap_error *error);

#endif
