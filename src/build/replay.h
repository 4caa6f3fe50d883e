/* Replay: the records of an index handed to a packer again, without reading a shard. */
#ifndef RECMAP_BUILD_REPLAY_H
#define RECMAP_BUILD_REPLAY_H

#include "build/packer.h"
#include "index/index.h"

/* Adds all shards of `index`, which lies in `folder` (resolved), to the packer: the same bytes come
 * out as if they were scanned. Errors: CORRUPT (the index), and the packer's. */
recmap_status replay_index(struct packer *packer, struct index_file *index, const char *folder,
                           recmap_error *error);

/* The absolute path of a shard of an index in `folder`; malloc'ed, NULL when memory is out. */
char *replay_shard_path(const struct index_shard *shard, const char *folder);

#endif
