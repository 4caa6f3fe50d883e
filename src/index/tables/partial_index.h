/* The index of a part of a list of shards, written when the list was shorter.
 *
 * New shards may change the default name: m.tfrecord alone has m.rmx, but with b.tfrecord beside it
 * the index is named after the folder. The index of the earlier shards must then be found, or its
 * ids, columns and record numbers would be lost without a word. But m.rmx may as well be the index
 * of one shard that is opened by its name, which must not get the records of others. The names do
 * not tell. The times do: shards that were there when m.rmx was written are not new. */
#ifndef RECMAP_INDEX_TABLES_PARTIAL_INDEX_H
#define RECMAP_INDEX_TABLES_PARTIAL_INDEX_H

#include "index/tables/shard_overlap.h"

/* Replaces `path`, the default name for the list, by the path of the only index in its folder that
 * is certainly the index of a part. Warns of those that may be it, and are not used. Errors:
 * NO_MEMORY, CANCELLED. */
recmap_status partial_index_find(char *path, size_t capacity, struct shard_listing *listing,
                                 recmap_error *error);

#endif
