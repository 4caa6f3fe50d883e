/* The stream of an epoch of a chunked order: its documents one after the other, and where a stretch
 * of their elements is. */
#ifndef RECMAP_ORDER_ROWS_STREAM_H
#define RECMAP_ORDER_ROWS_STREAM_H

#include "base/permutation/permutation.h"
#include "order/rows/epoch_table.h"
#include "order/rows/lengths.h"

/* A block is a power of two of documents, for which there is one sum. A row reads whole blocks, so
 * smaller ones are faster, if the table of sums may be as large. */
enum { STREAM_BLOCK_SHIFT_MIN = 4, STREAM_BLOCK_SHIFT_MAX = 7 };
enum { STREAM_BLOCK_MAX = 1 << STREAM_BLOCK_SHIFT_MAX };

/* What all epochs have in common. The table is for shuffled documents; stored ones have the same
 * sums in every epoch. */
struct stream {
    struct lengths lengths;
    uint64_t document_count;
    unsigned block_shift;
    uint64_t block_count;
    uint64_t seed;
    atomic_sum *stored_sums; /* NULL if documents are shuffled */
    struct epoch_table table;
};

/* Sets the members, and computes the sums if documents are in stored order. Errors: NO_MEMORY. */
recmap_status stream_init(struct stream *stream, const struct lengths *lengths, uint64_t seed,
                          bool is_stored, recmap_error *error);
void stream_deinit(struct stream *stream);

/* Makes the table of an epoch. Errors: NO_MEMORY. */
recmap_status stream_prepare(struct stream *stream, uint64_t epoch, recmap_error *error);

/* Replaces the number of documents from which on a table is computed by adding the length of each
 * document to its block, for tests; 0: the real one again. Tables are the same either way. */
void stream_force_scatter_min(uint64_t document_count);

/* Replaces the size of blocks of the streams that are initialised afterwards, for tests; 0: the
 * real one again. Rows are the same either way. */
void stream_force_block_shift(unsigned shift);

/* One block of an epoch's stream, in memory. */
struct stream_cursor {
    struct stream *stream;
    uint64_t epoch;
    struct permutation documents;
    uint64_t block; /* UINT64_MAX: none */
    uint64_t start; /* elements before the block */
    size_t count;
    uint64_t records[STREAM_BLOCK_MAX];
    uint64_t lengths[STREAM_BLOCK_MAX];
};

void stream_cursor_init(struct stream_cursor *cursor, struct stream *stream, uint64_t epoch);

/* The blocks that hold these elements. Errors: NO_MEMORY. */
recmap_status stream_find(struct epoch_place *places, const struct stream_cursor *cursor,
                          const uint64_t *offsets, size_t count, recmap_error *error);

/* Reads a block, whose first element is number `start`, unless the cursor already holds it. */
void stream_read_block(struct stream_cursor *cursor, uint64_t block, uint64_t start);

#endif
