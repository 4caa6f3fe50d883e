/* The kinds of reads that a gather makes. gather.c reads records of mapped shards, and chooses one
 * of these for each of the others. `next` is set to the request that follows those which were read
 * together with request `i`. */
#ifndef RECMAP_DATASET_BATCH_GATHER_READS_H
#define RECMAP_DATASET_BATCH_GATHER_READS_H

#include <stdatomic.h>

#include "dataset/batch/batch.h"
#include "dataset/batch/overlap.h"
#include "dataset/batch/ranges.h"
#include "dataset/open/dataset.h"

enum { READ_MAX = 1 << 20 /* bytes that are read or copied together */ };

#define NOT_TOUCHING SIZE_MAX

/* The state of one gather. */
struct gather {
    recmap_batch *batch;
    recmap_dataset *dataset;
    struct open_shard *shard; /* of the previous record */
    uint32_t shard_index;
    bool is_borrowed; /* the gather holds the pin, not the batch: no record points into the shard */
    struct row_caches *caches;  /* what is known of long records; NULL: each is read and checked */
    struct gather_parts *parts; /* how to read each record; NULL: as a whole */
    struct overlap overlap;     /* reads of distant shards */
    /* The record of a mapped shard whose bytes are touched now, or NOT_TOUCHING. Other threads read
     * it, to say what this one waits for. */
    _Atomic(size_t) touched;
    bool is_final; /* the error is one of a network: reading again would not improve it */
};

/* Returns true if only ranges of record `i` are needed. */
static inline bool gather_is_partial(const struct gather *gather, size_t i) {
    return gather->parts && gather->parts->records[i].is_partial;
}

/* Makes a shard the current one and pins it. */
recmap_status gather_enter_shard(struct gather *gather, uint32_t shard_index, recmap_error *error);

/* ---- Checks: gather_check.c. */

/* Checks record `i` in the window, and puts it into the batch. */
recmap_status gather_check(struct gather *gather, size_t i, const struct shard_window *window,
                           recmap_error *error);

/* Checks a record of a local shard. If it fails, it is read once more. */
recmap_status gather_check_local(struct gather *gather, size_t i, const struct open_shard *shard,
                                 const struct shard_window *window, recmap_error *error);

/* Checks the records of the requests [first, end). */
recmap_status gather_check_window(struct gather *gather, size_t first, size_t end,
                                  const struct shard_window *window, recmap_error *error);

/* Returns true if bytes of the current shard that failed may be right if they are read again. */
bool gather_may_pass(const struct gather *gather, recmap_status status,
                     const struct index_place *place);

/* ---- Uncompressed shards that are not mapped: gather_copied.c. */

/* Returns the end of the requests from `i` on that share a read because each lies close to the
 * preceding ones. `is_requested`: from a store, not from a file. */
size_t gather_merge_requests(const struct gather *gather, size_t i, size_t end, uint64_t *size,
                             bool is_requested);

/* Reads and checks the requests from `i` on that share a read. Requests to distant shards are
 * planned. */
recmap_status gather_read_merged(struct gather *gather, size_t i, size_t count, size_t *next,
                                 recmap_error *error);

/* ---- Distant shards: gather_distant.c. */

/* Plans to read the requests [first, end) with one read. */
recmap_status gather_plan_distant(struct gather *gather, size_t first, size_t end, uint64_t size,
                                  recmap_error *error);

/* Makes the planned reads and checks their records. */
recmap_status gather_read_distant(struct gather *gather, recmap_error *error);

/* Takes a record from what was requested for the whole batch, if it is there. */
recmap_status gather_take_fetched(bool *is_taken, struct gather *gather, size_t i,
                                  recmap_error *error);

/* Reads and checks a record by itself, because the bytes that arrived before were damaged. */
recmap_status gather_read_alone(struct gather *gather, struct source *source, size_t i,
                                recmap_error *error);

/* ---- Compressed shards: gather_compressed.c. */

/* Reads the requests from `i` on that are copied together, if need be once more. */
recmap_status gather_read_compressed(struct gather *gather, size_t i, size_t count, size_t *next,
                                     recmap_error *error);

/* ---- Parts of records: gather_partial.c. */

/* Reads or plans the ranges of record `i`, unless it must be read as a whole. */
recmap_status gather_read_partial(bool *is_read, struct gather *gather, size_t i,
                                  recmap_error *error);

/* Checks a range that was planned and read. */
recmap_status gather_check_range(struct gather *gather, size_t read_index, recmap_error *error);

#endif
