/* The comparison of a shard with the records that were sampled when it was indexed. It tells a copy
 * from a changed shard, and a changed shard from a damaged one.
 *
 * A changed shard has valid content that is not what was indexed: a record with other bytes, or of
 * another length. A sample that cannot be read proves nothing, because damage may be the reason, so
 * the other samples decide. If none can be read, the shard is damaged, too, unless it starts with a
 * valid record that was not indexed. In framings without checksums, each record whose bytes differ
 * counts as changed: nothing tells damage from change there. */
#ifndef RECMAP_DATASET_OPEN_SHARD_SAMPLES_H
#define RECMAP_DATASET_OPEN_SHARD_SAMPLES_H

#include "dataset/open/shard_cache.h"

struct shard_samples {
    struct index_file *index;
    uint32_t shard_index;
    const struct open_shard *shard;
    size_t step; /* every step-th sample is compared */
};

enum samples_verdict {
    SAMPLES_EQUAL,
    SAMPLES_UNREADABLE,    /* some cannot be read, and none differs */
    SAMPLES_DIFFER,        /* the shard changed */
    SAMPLES_NONE_READABLE, /* no sample can be read: the shard is damaged as a whole */
};

/* With SAMPLES_DIFFER, sets `place` and `number` to a record that is not what was indexed. Errors:
 * IO of a remote store, NO_MEMORY, CANCELLED, CORRUPT (the index is damaged). */
recmap_status samples_compare(enum samples_verdict *verdict, struct index_place *place,
                              uint64_t *number, const struct shard_samples *samples,
                              recmap_error *error);

#endif
