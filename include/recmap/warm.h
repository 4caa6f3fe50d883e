/* Warming: reading what a run will read, in the order of the files, to where its random reads find
 * it. From local shards that is the page cache. With a cache on the local disk
 * (recmap_dataset_options.cache), it is that cache, for remote shards and for what compressed
 * shards inflate to.
 *
 *     recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
 *     recmap_dataset_warm(&report, dataset, &options, &error);
 *
 * Warming saves time and changes nothing else: what is read is not checked, except that spans are
 * compared with their checksums before they are stored. */
#ifndef RECMAP_WARM_H
#define RECMAP_WARM_H

#include <recmap/dataset.h>
#include <recmap/order.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_warm_options {
    uint32_t version; /* RECMAP_WARM_OPTIONS_VERSION */
    /* Threads that read and inflate. 0: one for local shards, which a device gives fastest in
     * their order; else one per core, at least 4. */
    unsigned thread_count;
    /* What is read: the records of this order, in groups. The groups follow each other in the
     * order's sequence. Each is large enough that the parts of a shard in it are long, and is read
     * in the sequence of the shards. NULL: all shards, and the members that follow have no
     * effect. */
    recmap_order *order;
    uint64_t epoch;
    uint64_t position;           /* where in the epoch the run begins */
    uint64_t record_limit;       /* at most so many records or rows; 0: to the epoch's end */
    recmap_deal_options dealing; /* how the epoch is dealt to ranks */
    uint32_t first_rank;         /* only the shares of these ranks */
    uint32_t rank_count;         /* 0: all ranks */
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
} recmap_warm_options;

#define RECMAP_WARM_OPTIONS_VERSION 1
#define RECMAP_WARM_OPTIONS_INIT                                                                   \
    { RECMAP_WARM_OPTIONS_VERSION, 0, NULL, 0, 0, 0, RECMAP_DEAL_OPTIONS_INIT, 0, 0, NULL, NULL }

/* Why warming ended. */
typedef enum recmap_warm_end {
    RECMAP_WARM_COMPLETE = 0, /* everything is there */
    RECMAP_WARM_MEMORY = 1,   /* memory has no room for more */
    RECMAP_WARM_CACHE = 2,    /* the cache on the disk is full or fails */
} recmap_warm_end;

typedef struct recmap_warm_report {
    recmap_warm_end end;
    uint64_t read_size;    /* bytes that were read or inflated, with gaps between records */
    uint64_t present_size; /* bytes that were there already */
} recmap_warm_report;

/* Warms a data set. What is there already is not fetched again, so a call that was interrupted can
 * be repeated. Ends early, without an error, when the cache on the disk is full, or when what was
 * warmed fills memory: a sixteenth of what the page cache can hold stays free. This is what the
 * machine has available, or less if a control group limits the process (version 1 or 2). It is
 * looked at again and again, because limits change. Of several processes that warm, each counts
 * only what it warms itself. NULL options are the defaults.
 *
 * Progress counts bytes of shards, of compressed ones what they inflate to. With an order,
 * bytes_total is an upper bound.
 *
 * Errors: INVALID for options out of range, an order with numbers that the data set does not have,
 * or a remote shard without a cache; as when records are read; CANCELLED. `report` is set even
 * then. Memory: about a bit for each 4 KiB of the shards with an order, but at most 128 MiB;
 * 1 MiB per thread, 16 MiB for remote shards. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_warm(recmap_warm_report *report,
                                                              recmap_dataset *dataset,
                                                              const recmap_warm_options *options,
                                                              recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
