/* In which sequence the parts of a data set are warmed. */
#ifndef RECMAP_DATASET_WARM_WARM_PLAN_H
#define RECMAP_DATASET_WARM_WARM_PLAN_H

#include <recmap/warm.h>

#include "dataset/warm/warm_marks.h"
#include "order/kinds/step_records.h"

/* Either all shards, or the records of a run. These are taken from the order in groups. A random
 * order of small records needs a part of nearly each page soon, and reading these pages in that
 * sequence would take a random read each. So a group has as many records as it takes for its parts
 * of the shards to be long, and these are read in the sequence of the shards. */
struct warm_plan {
    recmap_dataset *dataset;
    uint64_t next_shard; /* of all shards, */
    uint64_t next_byte;  /* and where in it the rest begins */
    recmap_order *order; /* NULL: all shards */
    recmap_deal deal;
    uint32_t first_rank, end_rank;
    uint64_t step;
    uint32_t rank;
    recmap_share share;    /* the rest of this rank's share of the step */
    uint64_t records_left; /* records or rows until the limit */
    uint64_t group_limit;  /* more bytes than this need not be in a group */
    bool is_over;          /* the order has no more records */
    struct warm_marks marks;
    struct step_records records;
};

/* Errors: INVALID, NO_MEMORY. Must be deinitialised even then. */
recmap_status warm_plan_init(struct warm_plan *plan, recmap_dataset *dataset,
                             const recmap_warm_options *options, recmap_error *error);
void warm_plan_deinit(struct warm_plan *plan);

/* The next range; `is_over` after the last one. Asks the thread's interrupt. Errors: as those of
 * the order; CORRUPT naming the index; NO_MEMORY; CANCELLED. */
recmap_status warm_plan_next(struct warm_range *range, bool *is_over, struct warm_plan *plan,
                             recmap_error *error);

/* How many bytes there are at most: of the shards, or of as many records as the run reads. */
uint64_t warm_plan_size(const struct warm_plan *plan);

#endif
