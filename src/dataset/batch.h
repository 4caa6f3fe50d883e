/* What a batch is made of: records in the order asked, and what keeps their bytes. */
#ifndef RECMAP_DATASET_BATCH_H
#define RECMAP_DATASET_BATCH_H

#include <recmap/batch.h>

#include "dataset/shard_cache.h"

/* A record on its way into a batch: which one, and its place in the order asked. */
struct batch_request {
    uint64_t number;
    size_t slot;
};

/* A read on its way into a batch's own memory: the requests from `first` to `end`, which lie near
 * each other. */
struct batch_read {
    recmap_batch *batch;
    size_t first, end;
    uint64_t offset; /* in the shard */
    uint32_t size;
    uint32_t needed;      /* bytes: a file may end before the rest */
    size_t memory_offset; /* where in the batch's memory */
};

struct recmap_batch {
    recmap_record *records;
    size_t count;
    size_t capacity;
    struct open_shard **pins;
    size_t pin_count;
    size_t pin_capacity;
    uint8_t **buffers; /* bytes that were read with pread */
    size_t buffer_count;
    size_t buffer_capacity;
    struct batch_request *requests; /* scratch of a gather */
    struct batch_request *sorted;
    size_t requests_capacity;
    size_t sorted_capacity;
    struct index_place *places;
    const struct open_shard **shards; /* where the places lie; NULL: to be read with pread */
    size_t places_capacity;
    size_t shards_capacity;
    uint8_t *memory; /* that reads go to; kept when the batch is cleared */
    size_t memory_size;
    struct batch_read *reads;
    size_t reads_capacity;
    size_t request_count; /* that the reads are for */
    size_t read_count;
    size_t handed_count;     /* of the reads: handed to the kernel */
    size_t done_count;       /* of the reads */
    bool has_failed;         /* one of them, or a check */
    recmap_batch *next;      /* of those whose reads are not all handed over */
    recmap_columns *columns; /* NULL until something was parsed */
    bool is_parsed;          /* they are of these records */
};

/* Room for `count` records and the scratch to gather them. */
bool batch_reserve(recmap_batch *batch, size_t count);

/* The batch gives the pin back when it ends. False when memory is out. */
bool batch_keep_pin(recmap_batch *batch, struct open_shard *shard);

/* Bytes that live as long as the records in the batch; NULL when memory is out. */
uint8_t *batch_allocate(recmap_batch *batch, size_t size);

/* Sorts requests by number, keeping the order of equal ones. */
void batch_sort_requests(recmap_batch *batch, size_t count);

#endif
