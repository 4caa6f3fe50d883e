/* The shards of all parts of a build, by their names: none may occur twice, unless a shard of an
 * index is named again, whose new records are then added. */
#ifndef RECMAP_INDEX_BUILD_NAMED_SHARDS_H
#define RECMAP_INDEX_BUILD_NAMED_SHARDS_H

#include "index/build/build_part.h"

struct named_shard {
    char *path;                      /* absolute, or a URL */
    size_t sequence;                 /* among the shards of all parts, in their order */
    size_t part;                     /* its index */
    uint32_t shard_index;            /* in the part's index */
    const struct shard_entry *entry; /* in the part's index; NULL if the part is a shard */
};

/* In the order of the parts, which outlive the list. */
struct named_shards {
    struct named_shard *shards;
    size_t count;
    struct build_part *parts;
    size_t part_count;
};

/* Lists the shards. Call named_shards_deinit also after an error. Errors: NO_MEMORY; CANCELLED. */
recmap_status named_shards_init(struct named_shards *list, struct build_part *parts, size_t count,
                                recmap_error *error);
void named_shards_deinit(struct named_shards *list);

/* Sets `grown` of the parts that are shards of an index. `file_count` is the number of different
 * shards. Errors: INVALID if a shard is named twice; NO_MEMORY; CANCELLED. */
recmap_status named_shards_match(uint64_t *file_count, const struct named_shards *list,
                                 recmap_error *error);

/* Returns true if the shard is one that no index has. */
bool named_shards_is_new(const struct named_shards *list, const struct named_shard *shard);

/* Makes a sorted list of pointers to the shards, which the caller frees: an interrupted sort may
 * leave items twice. Errors: NO_MEMORY; CANCELLED. */
recmap_status named_shards_sort(struct named_shard ***sorted, const struct named_shards *list,
                                int (*compare)(const void *a, const void *b), recmap_error *error);

#endif
