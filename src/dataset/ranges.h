/* The ranges of a payload that are read in part: widened to whole blocks, and merged. */
#ifndef RECMAP_DATASET_RANGES_H
#define RECMAP_DATASET_RANGES_H

#include "dataset/gather.h"

/* Lists the ranges of a record in ascending order, as whole blocks of SUMS_BLOCK_SIZE of a payload
 * of `size` bytes. Ranges that share a block, or that lie next to each other, are one. `ranges` has
 * room for all ranges of the record. Returns their number. */
size_t ranges_merge(struct payload_range *ranges, const struct gather_parts *parts,
                    size_t first_range, uint64_t size);

/* How many ranges a record has. */
size_t ranges_count(const struct gather_parts *parts, size_t first_range);

#endif
