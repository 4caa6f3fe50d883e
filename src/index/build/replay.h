/* Replay: adds the records of an existing index to a packer, without reading its shards. */
#ifndef RECMAP_INDEX_BUILD_REPLAY_H
#define RECMAP_INDEX_BUILD_REPLAY_H

#include "index/build/packer.h"
#include "index/tables/index.h"

/* Adds all shards of `index`, whose resolved folder is `folder`. The packer produces the same bytes
 * as if the shards were scanned. Errors: CORRUPT (the index), and those of the packer. */
recmap_status replay_index(struct packer *packer, struct index_file *index, const char *folder,
                           recmap_error *error);

/* Makes the floats of a column float64 if the column of `index` is of that type. To be called for
 * all indexes before the first record is added. */
void replay_widen(struct packer *packer, const struct index_file *index);

/* The absolute path of a shard of an index in `folder`, allocated with malloc; NULL if memory is
 * out. */
char *replay_shard_path(const struct index_shard *shard, const char *folder);

#endif
