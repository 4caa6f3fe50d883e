/* Reads of distant shards (objects in remote stores), which are in flight together. */
#ifndef RECMAP_DATASET_BATCH_OVERLAP_H
#define RECMAP_DATASET_BATCH_OVERLAP_H

#include "dataset/batch/batch.h"

/* A read that records share because they are close to each other (dataset_request_gap) has at most
 * this many bytes. */
enum { OVERLAP_MAX = 8 << 20 };

/* A range of one shard that records share. */
struct shared_range {
    uint32_t shard_index;
    uint64_t offset;
    uint64_t size;
};

/* Extends the range to a record that follows it with a gap of at most `gap` bytes, unless the range
 * would be longer than `size_max`. Returns whether it has the record. Records are in the order of
 * their numbers, but their places need not ascend: a forged index can give a later record an
 * earlier place. Such a record needs a range of its own. */
bool shared_range_add(struct shared_range *range, const struct index_place *place, uint64_t gap,
                      uint64_t size_max);

/* The requests [first, end) of the batch, whose records one read provides. */
struct overlapped_read {
    size_t first, end;
    bool is_range; /* only a range of the payload of a single record */
    struct open_shard *pin;
};

struct overlap {
    recmap_batch *batch;
    struct source_read *reads;
    struct overlapped_read *parts; /* one for each read */
    size_t count;
    size_t reads_capacity;
    size_t parts_capacity;
};

/* Adds a read, into memory of the batch. Takes the pin, even on failure. Errors: NO_MEMORY. */
recmap_status overlap_add(struct overlap *overlap, size_t first, size_t end, uint64_t offset,
                          uint64_t size, struct open_shard *shard, recmap_error *error);

/* The same for a range of the payload of request `first`, into memory for the whole payload. */
recmap_status overlap_add_range(struct overlap *overlap, size_t first, uint8_t *bytes,
                                uint64_t offset, uint64_t size, struct open_shard *shard,
                                recmap_error *error);

/* Makes all reads. On failure, the error names the first record of a read that failed. */
recmap_status overlap_read(struct overlap *overlap, recmap_error *error);

/* The index of the read that provides a whole record, or SIZE_MAX. */
size_t overlap_find(const struct overlap *overlap, uint64_t number);

/* The bytes of a read that was made. */
struct shard_window overlap_window(const struct overlap *overlap, size_t i);

/* Unpins the shards and frees the arrays. */
void overlap_deinit(struct overlap *overlap);

#endif
