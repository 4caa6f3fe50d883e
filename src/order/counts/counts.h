/* The internals of element counts: what all sources of counts have in common, and the functions
 * that a source implements. The only source today is counts packed in memory. */
#ifndef RECMAP_ORDER_COUNTS_COUNTS_H
#define RECMAP_ORDER_COUNTS_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/counts.h>

/* Record numbers are checked before they get here, and reading never fails. */
struct counts_source {
    void (*destroy)(recmap_counts *counts);
    /* values[i] is the count of records[i], in any order of records. */
    void (*gather)(uint64_t *values, const recmap_counts *counts, const uint64_t *records,
                   size_t count);
    /* values[i] is the count of record first + i. */
    void (*run)(uint64_t *values, const recmap_counts *counts, uint64_t first, size_t count);
};

enum { COUNTS_DIGEST_SIZE = 16 };

/* The struct of each source begins with it. */
struct recmap_counts {
    const struct counts_source *source;
    atomic_uint references;
    uint64_t record_count;
    uint64_t total;
    uint64_t longest;
    uint64_t filled;                    /* records that have elements */
    uint8_t digest[COUNTS_DIGEST_SIZE]; /* XXH3-128 of all counts as 64-bit words */
};

/* Completes counts whose source and record_count are set and can be read: checks every count and
 * sets the other members. One pass, 2 to 3 ns per record. Errors: INVALID, naming the record, for a
 * count or a sum above RECMAP_COUNTS_MAX; NO_MEMORY; CANCELLED by the thread's interrupt. */
recmap_status counts_complete(recmap_counts *counts, recmap_error *error);

/* Where counts are read from: values[i] is the count of record first + i. */
struct counts_reader {
    void *context;
    recmap_status (*read)(void *context, uint64_t *values, uint64_t first, size_t count,
                          recmap_error *error);
};

/* Packs the counts of `record_count` records, which are read twice: to find the widths, then to
 * pack. Errors: as the reader and counts_complete; CORRUPT if the two readings differ. */
recmap_status counts_pack(recmap_counts **counts, const struct counts_reader *reader,
                          uint64_t record_count, recmap_error *error);

#endif
