/* Row orders: fixed-length rows of tokens, and windows of episodes, as a pure function of (seed,
 * epoch, position).
 *
 * A row is one training sample, made of pieces: stretches of the sequences of records. A row order
 * is an order (order.h): recmap_order_at gives the number of the row at a position, and
 * recmap_order_pieces gives the row's pieces. Ranks, states, mixtures and descriptions are
 * those of all orders. docs/rows.md specifies each kind, with test vectors. */
#ifndef RECMAP_ROWS_H
#define RECMAP_ROWS_H

#include <recmap/counts.h>
#include <recmap/order.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest size of a row, of its overlap, of a window's stride and pads, and of `add`: 2^40. */
#define RECMAP_ROW_SIZE_MAX ((uint64_t)1 << 40)

/* ---- Kinds. Each retains `counts`. Errors of all: INVALID for options out of range, or if the
 * order would have more than 2^62 elements or rows; NO_MEMORY. An order without rows is not an
 * error: its count is 0. */

typedef enum recmap_documents {
    RECMAP_DOCUMENTS_SHUFFLED = 0, /* another permutation in each epoch */
    RECMAP_DOCUMENTS_STORED = 1,   /* by record number */
} recmap_documents;

/* What happens to the end of the stream that does not fill a row. */
typedef enum recmap_tail {
    RECMAP_TAIL_DROP = 0, /* it is left out: every row is full */
    RECMAP_TAIL_PAD = 1,  /* it is a row of fewer elements */
} recmap_tail;

typedef struct recmap_chunked_options {
    uint32_t version; /* RECMAP_CHUNKED_OPTIONS_VERSION */
    recmap_documents documents;
    uint64_t size;    /* elements from the start of a row to the start of the next one */
    uint64_t overlap; /* elements of the next row that a row also has; below `size` */
    uint64_t add;     /* elements that are added to each document that has any */
    recmap_tail last;
    uint64_t seed;
} recmap_chunked_options;

#define RECMAP_CHUNKED_OPTIONS_VERSION 1
#define RECMAP_CHUNKED_OPTIONS_INIT                                                                \
    { RECMAP_CHUNKED_OPTIONS_VERSION, RECMAP_DOCUMENTS_SHUFFLED, 0, 0, 0, RECMAP_TAIL_DROP, 0 }

/* Documents joined into a stream, cut into rows of `size` elements; the rows are shuffled.
 * Shuffled documents need a table of 1/16 byte a document for each of up to two epochs. It is made
 * when the epoch is first asked for (about 10 ns a document and core) or by recmap_order_prepare.
 * A row then costs about 2 us. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_order_chunked(recmap_order **order, recmap_counts *counts,
                     const recmap_chunked_options *options, recmap_error *error);

/* What happens to documents that are longer than a row. */
typedef enum recmap_long {
    RECMAP_LONG_SPLIT = 0,    /* cut into whole rows and a rest, which is packed */
    RECMAP_LONG_TRUNCATE = 1, /* only their first `size` elements are used */
    RECMAP_LONG_DROP = 2,     /* left out */
} recmap_long;

enum { RECMAP_PACKED_GROUP_MAX = 65536 };

typedef struct recmap_packed_options {
    uint32_t version; /* RECMAP_PACKED_OPTIONS_VERSION */
    recmap_long long_documents;
    uint64_t size;  /* elements that fit into a row */
    uint64_t add;   /* elements that are added to each document that has any */
    uint32_t group; /* documents that are packed together; at most RECMAP_PACKED_GROUP_MAX */
    uint64_t seed;
} recmap_packed_options;

#define RECMAP_PACKED_OPTIONS_VERSION 1
#define RECMAP_PACKED_OPTIONS_INIT                                                                 \
    { RECMAP_PACKED_OPTIONS_VERSION, RECMAP_LONG_SPLIT, 0, 0, 4096, 0 }

/* Whole documents packed into rows of at most `size` elements, in groups; groups and the rows of
 * each group are shuffled. All documents are packed once to count the rows (about 20 ns a document
 * and core), and a group again when it is asked for. Memory: 8 bytes a group, and for each of up
 * to two epochs the same. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_packed(recmap_order **order,
                                                              recmap_counts *counts,
                                                              const recmap_packed_options *options,
                                                              recmap_error *error);

typedef struct recmap_windows_options {
    uint32_t version; /* RECMAP_WINDOWS_OPTIONS_VERSION */
    uint64_t size;    /* elements of a window */
    uint64_t stride;  /* from the start of a window to the start of the next one */
    /* How far windows reach past the ends of a sequence; both below `size`. */
    uint64_t pad_before;
    uint64_t pad_after;
    uint64_t seed;
} recmap_windows_options;

#define RECMAP_WINDOWS_OPTIONS_VERSION 1
#define RECMAP_WINDOWS_OPTIONS_INIT                                                                \
    { RECMAP_WINDOWS_OPTIONS_VERSION, 0, 1, 0, 0, 0 }

/* Every stretch of `size` elements of each sequence, `stride` apart, all shuffled. Memory: 1/16
 * byte a record. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_order_windows(recmap_order **order, recmap_counts *counts,
                     const recmap_windows_options *options, recmap_error *error);

/* ---- What a row order gives. */

/* Elements of a row at most; 0 for an order over records. */
RECMAP_API uint64_t recmap_order_row_width(const recmap_order *order);

/* Every record number that the order gives is below it: in pieces for a row order, otherwise the
 * same as recmap_order_number_limit. A data set must have as many records. */
RECMAP_API uint64_t recmap_order_record_limit(const recmap_order *order);

/* The share of the places in the rows of a packed order that hold elements; 0 for other orders and
 * without rows. */
RECMAP_API double recmap_order_fill(const recmap_order *order);

/* A stretch of one sequence: `count` elements, never 0, from `first` on. They fill the row from
 * `place` on. `first` numbers the document with its added elements. */
typedef struct recmap_piece {
    uint64_t record;
    uint64_t first;
    uint64_t count;
    uint64_t place;
} recmap_piece;

/* The pieces of some rows, one row after the other. The caller owns it and uses it again; read its
 * members, functions set them. Row i has the items from ends[i-1] (0 for the first row) to
 * ends[i] - 1. */
typedef struct recmap_pieces {
    recmap_piece *items;
    size_t count;
    size_t *ends;
    size_t row_count;
    size_t capacity;
    size_t row_capacity;
} recmap_pieces;

#define RECMAP_PIECES_INIT                                                                         \
    { NULL, 0, NULL, 0, 0, 0 }

/* Frees the memory and leaves no rows. */
RECMAP_API void recmap_pieces_deinit(recmap_pieces *pieces);

/* The pieces of the rows at positions[0], ..., positions[count - 1] of the epoch. They replace what
 * `pieces` held.
 * Errors: INVALID for a position out of range, an epoch too large for a mixture, or an order over
 * records; CORRUPT if the counts have changed since the order was made (an index that was written
 * to); NO_MEMORY. `pieces` has no rows then. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_pieces(recmap_pieces *pieces,
                                                              const recmap_order *order,
                                                              uint64_t epoch,
                                                              const uint64_t *positions,
                                                              size_t count, recmap_error *error);

/* Makes what the order needs for an epoch, so that the first position does not wait for it: call it
 * for the next epoch while this one is still running, from any thread. Uses all cores. Orders that
 * need nothing return at once. An order keeps two epochs, an even and an odd one. Errors: INVALID
 * for an epoch too large for a mixture; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_prepare(const recmap_order *order,
                                                               uint64_t epoch, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
