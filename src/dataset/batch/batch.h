/* The contents of a batch: records in the order of the request, and what keeps their bytes
 * alive. */
#ifndef RECMAP_DATASET_BATCH_BATCH_H
#define RECMAP_DATASET_BATCH_BATCH_H

#include <recmap/batch.h>
#include <recmap/rows.h>

#include "base/core/interrupt.h"
#include "dataset/batch/record_memory.h"
#include "dataset/open/shard_cache.h"
#include "parse/columns/draws.h"
#include "parse/columns/image_counts.h"
#include "parse/columns/row_repair.h"

struct overlap;

/* A record to be read into a batch, and its index in the batch. */
struct batch_request {
    uint64_t number;
    size_t slot;
};

/* A read into a batch's own memory. It serves the requests [first, end), whose records lie close to
 * each other. */
struct batch_read {
    recmap_batch *batch;
    size_t first, end;
    uint64_t offset; /* in the shard */
    uint32_t size;
    uint32_t needed;      /* bytes that must arrive; the file may end before `size` */
    size_t memory_offset; /* in the batch's memory */
    bool is_done;         /* completed, or refused */
};

struct recmap_batch {
    recmap_record *records;
    size_t count;
    size_t capacity;
    struct open_shard **pins;
    size_t pin_count;
    size_t pin_capacity;
    struct record_memory bytes;     /* of records that were read with pread or from a network */
    struct batch_request *requests; /* by record number, once they are sorted */
    struct batch_request *sorted;   /* scratch of the sort */
    size_t requests_capacity;
    size_t sorted_capacity;
    struct index_place *places;       /* of the requests */
    const struct open_shard **shards; /* of the places, if mapped; NULL: read with pread */
    size_t places_capacity;
    size_t shards_capacity;
    uint8_t *memory; /* target of reads; kept when the batch is cleared */
    size_t memory_size;
    struct batch_read *reads;
    size_t reads_capacity;
    size_t request_count; /* records that the reads are for */
    size_t read_count;
    size_t submitted_count;  /* reads given to the kernel */
    size_t done_count;       /* reads completed */
    size_t first_open;       /* all reads before this one are completed */
    bool has_failed;         /* a read or a check failed */
    recmap_batch *next;      /* in the reader's list of batches with unsubmitted reads */
    recmap_columns *columns; /* NULL until something was parsed */
    bool is_parsed;          /* the columns hold these records */
    bool has_rows;           /* the columns hold rows, which are cut from these records */
    uint64_t row_width;
    recmap_pieces pieces;  /* of the rows */
    size_t *piece_records; /* the index of each piece's record */
    size_t piece_records_capacity;
    recmap_columns *whole; /* scratch: records that are read completely to cut rows from them */
    struct interrupt interrupt;
    const recmap_allocator *allocator; /* of the columns that are filled next; NULL: none */
    const struct overlap *fetched; /* of a part: what was requested for the whole batch; or NULL */
    bool has_draws;                /* of what is read next */
    recmap_draws draws;            /* see recmap_batch_set_draws */
    struct image_counts *image_counts; /* of pictures that are decoded next; NULL: none */
    const struct row_repair *repair;   /* of the parse; NULL: failures are raised or collected */
    bool has_place;                    /* the batch was read with the draws `place` */
    recmap_draws place;                /* of the records or rows, in the arrays below */
    uint64_t step;                     /* of a loader's run; RECMAP_NO_STEP: not of a loader */
    uint64_t *positions;               /* see recmap_draws */
    size_t positions_capacity;
    uint64_t *draw_numbers;
    size_t draw_numbers_capacity;
    unsigned thread_count; /* see recmap_batch_set_threads */
    recmap_batch **parts;  /* one per thread; empty except while threads fill this batch */
    size_t part_count;
    size_t part_capacity;
    recmap_columns **part_columns; /* scratch: the columns of the parts */
    size_t part_columns_capacity;
};

/* Sets where the columns that are filled next get memory that exports show. NULL, or an allocator
 * without functions: from the C library. */
void batch_set_allocator(recmap_batch *batch, const recmap_allocator *allocator);

/* Sets where the pictures that one thread decodes for the batch are counted. NULL, as at first:
 * nowhere. */
void batch_set_image_counts(recmap_batch *batch, struct image_counts *counts);

/* Sets who repairs rows that cannot be parsed, on one thread. NULL, as at first: nobody. If rows
 * are left out, the batch still has their records. */
void batch_set_repair(recmap_batch *batch, const struct row_repair *repair);

/* The draws of what is being read into the batch, after they were taken; or NULL. */
const recmap_draws *batch_draws(const recmap_batch *batch);

/* Copies the draws of the `count` records or rows that are read next to `place`. Whoever reads them
 * sets `has_place` afterwards. Errors: INVALID, NO_MEMORY; the batch is then empty. */
recmap_status batch_take_draws(recmap_batch *batch, const recmap_draws *draws, size_t count,
                               recmap_error *error);

/* Return room in the batch's own arrays, which are not copied when they are taken. NULL without
 * memory. */
uint64_t *batch_reserve_positions(recmap_batch *batch, size_t count);
uint64_t *batch_reserve_draw_numbers(recmap_batch *batch, size_t count);

/* Moves the position and the draw number of a record to another place, as its record is moved. */
void batch_move_place(recmap_batch *batch, size_t target, size_t source);

/* Reserves memory for `count` records and for gathering them. Returns false without memory. */
bool batch_reserve(recmap_batch *batch, size_t count);

/* Makes at least `count` parts, and columns for the first `count` of them, which are listed in
 * `part_columns`. Both return false without memory. */
bool batch_reserve_parts(recmap_batch *batch, size_t count);
bool batch_reserve_part_columns(recmap_batch *batch, size_t count);

/* Keeps the shard pinned until the batch is cleared. Returns false without memory. */
bool batch_keep_pin(recmap_batch *batch, struct open_shard *shard);

/* Allocates bytes that live as long as the records in the batch. Returns NULL without memory. */
uint8_t *batch_allocate(recmap_batch *batch, size_t size);

/* Sorts requests by number, keeping the order of equal ones. Errors: CANCELLED. */
recmap_status batch_sort_requests(recmap_batch *batch, size_t count, recmap_error *error);

#endif
