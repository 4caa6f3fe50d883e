/* Partitions: how a hash assigns each record to one of several parts (docs/reference/partition.md).
 * Pure. */
#ifndef RECMAP_TOOLS_RECORDS_PARTITION_H
#define RECMAP_TOOLS_RECORDS_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part k receives the records whose word is below limits[k] and not below an earlier part's limit.
 * The last part receives the rest. */
struct partition {
    uint64_t key;
    uint64_t *limits;
    size_t part_count;
};

/* Computes the limits of shares from 0 to 1. `limits` has room for `part_count` items, and outlives
 * the partition. Returns false if the shares do not add up to 1, within one part in 10^9. */
bool partition_init(struct partition *partition, uint64_t *limits, const double *shares,
                    size_t part_count, uint64_t seed);

/* The part of the record with this number and this hash of its id (RECMAP_NO_ID_HASH: no id). */
size_t partition_part(const struct partition *partition, uint64_t number, uint64_t id_hash);

#endif
