/* The shards of a list that an index has. Serves to find the index of a list under other names than
 * its default one. */
#ifndef RECMAP_INDEX_TABLES_SHARD_OVERLAP_H
#define RECMAP_INDEX_TABLES_SHARD_OVERLAP_H

#include <recmap/shards.h>
#include <stdbool.h>
#include <stddef.h>

/* The shards of the list, by the last part of their paths. */
struct shard_listing {
    char **paths; /* borrowed from the list */
    size_t count;
    bool *is_shared;    /* with the index that was compared last */
    bool follows_links; /* an index of 0.2.0 may name what links of other names lead to */
};

recmap_status shard_listing_init(struct shard_listing *listing, const recmap_shards *shards,
                                 recmap_error *error);

/* To be called also after an error. */
void shard_listing_deinit(struct shard_listing *listing);

/* What an index and the listing have in common. */
struct shard_overlap {
    char **paths;        /* of the files of the index */
    size_t count;        /* of them */
    size_t shared_count; /* of shards that both have */
    size_t other_count;  /* of files of the index that the listing lacks */
    size_t gone_count;   /* of these, those that do not exist */
};

/* Compares the index at the path with the listing, unless the index cannot be read. To be
 * deinitialized also after an error: NO_MEMORY, CANCELLED. */
recmap_status shard_overlap_init(struct shard_overlap *overlap, bool *is_readable, const char *path,
                                 struct shard_listing *listing, recmap_error *error);
void shard_overlap_deinit(struct shard_overlap *overlap);

/* Writes the default name of the index of some shards: see format/shards/index_name.h. */
typedef recmap_status index_name_writer(char *path, size_t capacity, char *const *shards,
                                        size_t count, recmap_error *error);

/* Returns true if the last part of the path is the name for the first files of the index. */
bool shard_overlap_has_name(const struct shard_overlap *overlap, const char *path, size_t count,
                            index_name_writer *write);

#endif
