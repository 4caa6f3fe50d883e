/* Packing one group of documents into rows: best fit by decreasing length. docs/formats/rows.md
 * specifies the result. A packer is the memory for it, which one thread uses for many groups. */
#ifndef RECMAP_ORDER_ROWS_PACKER_H
#define RECMAP_ORDER_ROWS_PACKER_H

#include <recmap/rows.h>

#include "base/permutation/permutation.h"
#include "order/rows/free_rows.h"
#include "order/rows/lengths.h"

/* The documents to pack, and how to pack them. */
struct packing {
    struct lengths lengths;
    struct permutation documents; /* the j-th document */
    uint64_t document_count;
    uint64_t size;
    recmap_long long_documents;
    uint32_t group; /* documents in each group but the last */
};

/* A part of a document that shares its row with others: fewer than `size` elements. */
struct packed_part {
    uint64_t first;
    uint64_t count;
    uint32_t document; /* in the group */
    uint32_t row;      /* among the rows that were opened for parts */
};

struct packer {
    const struct packing *packing;
    struct free_rows free_rows;
    uint32_t *sorted, *spare; /* parts by decreasing count */
    /* The most recently packed group. Documents are in the order of the group. */
    uint32_t document_count;
    uint64_t *documents; /* record numbers */
    uint64_t *lengths;
    uint64_t *whole_ends;      /* rows that are one part, up to and including this document */
    struct packed_part *parts; /* the others, by document */
    uint32_t part_count;
    uint32_t opened;   /* rows that were opened for the parts */
    uint64_t elements; /* in all rows */
};

/* Borrows `packing`. Errors: NO_MEMORY. */
recmap_status packer_init(struct packer *packer, const struct packing *packing,
                          recmap_error *error);
void packer_deinit(struct packer *packer);

uint64_t packing_group_count(const struct packing *packing);

/* Packs a group. Errors: NO_MEMORY. Cost: 15 to 25 ns per document. */
recmap_status packer_pack(struct packer *packer, uint64_t group, recmap_error *error);

/* How many rows the most recently packed group has: rows of a single part, and all rows. */
uint64_t packer_whole_count(const struct packer *packer);
uint64_t packer_row_count(const struct packer *packer);

#endif
