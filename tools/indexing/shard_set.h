/* The shards of a set, NAME@N[END]: NAME-00000-of-0000N[END] and so on, and their index NAME.rmx.
 */
#ifndef RECMAP_TOOLS_INDEXING_SHARD_SET_H
#define RECMAP_TOOLS_INDEXING_SHARD_SET_H

#include "records/view.h"

struct shard_set {
    const char *path; /* NAME@N[END], as given by the user */
    size_t stem_size; /* of NAME */
    unsigned count;
    const char *end;
};

/* Returns false if `path`, which may be NULL, does not name a set. */
bool shard_set_parse(struct shard_set *set, const char *path);

/* Writes the items of a view at `positions` into the shards as TFRecord files: consecutive parts
 * that are as equal as possible, so that record i of the set is item i of the source. Then builds
 * the index, with the ids and counted features of the view's index. Lifted columns are left out,
 * because a column that was added to an index is not in the records.
 *
 * Nothing that exists is replaced. After an error or a signal, no file of the set remains. */
recmap_status shard_set_write(const struct shard_set *set, const struct view *view,
                              struct number_source positions, recmap_error *error);

#endif
