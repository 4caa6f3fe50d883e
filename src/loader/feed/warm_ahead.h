/* Warming for a loader: what the rest of the epoch reads is read in the order of the shards, ahead
 * of the batches. Failing to do so never fails a batch. */
#ifndef RECMAP_LOADER_FEED_WARM_AHEAD_H
#define RECMAP_LOADER_FEED_WARM_AHEAD_H

#include <recmap/loader.h>

#include "dataset/warm/warming.h"
#include "loader/feed/warm_auto.h"

/* All zeros: nothing has begun. The thread that uses the loader changes it, under the loader's
 * lock if another thread may read the member. */
struct warm_ahead {
    struct warming *warming; /* NULL: none runs */
    recmap_warm_state state; /* while none runs */
    recmap_warm_report done; /* of those that ended */
    uint64_t epoch;          /* that the warming is for, if it has begun */
    bool has_begun;
    bool is_spent; /* later epochs need nothing more, or it is of no use */
    struct warm_auto automatic;
};

/* Begins to warm what the loader reads from its position on, if that is due. Called before each
 * batch is taken. */
void loader_warm(recmap_loader *loader);

/* What the loader warms from its position on. */
struct warming_options loader_warm_options(const recmap_loader *loader);

/* Ends it, because the loader stops, or goes elsewhere. */
void loader_warm_stop(recmap_loader *loader);

/* Adds how it is going to the statistics. The caller holds the loader's lock. */
void loader_warm_count(recmap_loader_statistics *statistics, const recmap_loader *loader);

#endif
