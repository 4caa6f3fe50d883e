/* The prefix sums of an epoch, for two epochs at a time: an even one and an odd one.
 *
 * Computing a table takes seconds for very large data sets. So the first thread that needs a table
 * computes it, with all cores, and other threads wait for it. Reading takes no lock: a reader
 * notices if a table was replaced while it read, and reads again. */
#ifndef RECMAP_ORDER_ROWS_EPOCH_TABLE_H
#define RECMAP_ORDER_ROWS_EPOCH_TABLE_H

#include <stdbool.h>

#include "order/rows/sums.h"

/* How the sums of an epoch are computed; `context` is the order. */
struct epoch_source {
    const void *context;
    uint64_t block_count;
    recmap_status (*compute)(atomic_sum *sums, const void *context, uint64_t epoch,
                             recmap_error *error);
};

struct epoch_slot {
    _Atomic(uint64_t) version; /* odd while a thread makes the table */
    _Atomic(uint64_t) epoch;
    atomic_bool is_made;
    atomic_long process; /* that makes the table */
    _Atomic(atomic_sum *) sums;
};

/* Zeroed when it is created. */
struct epoch_table {
    struct epoch_slot slots[2];
};

void epoch_table_deinit(struct epoch_table *table);

/* A block of an epoch, and the sum of the blocks before it. */
struct epoch_place {
    uint64_t block;
    uint64_t start;
};

/* The blocks that hold these offsets. Errors: those of source->compute; NO_MEMORY. */
recmap_status epoch_table_find(struct epoch_place *places, struct epoch_table *table,
                               uint64_t epoch, const struct epoch_source *source,
                               const uint64_t *offsets, size_t count, recmap_error *error);

/* The start of a block. Errors: the same. */
recmap_status epoch_table_start(uint64_t *start, struct epoch_table *table, uint64_t epoch,
                                const struct epoch_source *source, uint64_t block,
                                recmap_error *error);

/* Computes the table unless that has been done. Errors: the same. */
recmap_status epoch_table_prepare(struct epoch_table *table, uint64_t epoch,
                                  const struct epoch_source *source, recmap_error *error);

#endif
