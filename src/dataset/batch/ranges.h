/* The ranges of a payload that are read in part: widened to whole blocks, and merged. */
#ifndef RECMAP_DATASET_BATCH_RANGES_H
#define RECMAP_DATASET_BATCH_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [begin, end) of a payload. */
struct payload_range {
    uint64_t begin;
    uint64_t end;
    size_t next; /* index of another range of the same record, or SIZE_MAX */
};

/* How to read a record, and afterwards how it was read. */
struct gather_part {
    bool is_cut;        /* an input: a piece leaves some of the record out */
    bool is_partial;    /* reading the ranges is enough: the bytes were checked before. Gathering
                         * clears this if it reads the record as a whole nevertheless */
    size_t first_range; /* index, or SIZE_MAX */
    /* Where the payload is in the frame. An input if is_partial is set; otherwise set for a record
     * that was copied, and UINT64_MAX for one that is mapped. */
    uint64_t payload_offset;
    uint64_t payload_size;
};

struct gather_parts {
    struct gather_part *records; /* of each requested record */
    struct payload_range *ranges;
    size_t range_count;
};

/* Lists the ranges of a record in ascending order, as whole blocks of SUMS_BLOCK_SIZE of a payload
 * of `size` bytes. Ranges that share a block, or that lie next to each other, are one. `ranges` has
 * room for all ranges of the record. Returns their number. */
size_t ranges_merge(struct payload_range *ranges, const struct gather_parts *parts,
                    size_t first_range, uint64_t size);

/* How many ranges a record has. */
size_t ranges_count(const struct gather_parts *parts, size_t first_range);

#endif
