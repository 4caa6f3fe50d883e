/* Row orders: fixed-length rows of tokens, and windows of episodes, as a pure function of (seed,
 * epoch, position).
 *
 * A row is one training sample, made of pieces: stretches of the sequences of records. A row order
 * is an order (order.h): recmap_order_at gives the number of the row at a position, and
 * recmap_order_pieces gives the row's pieces. Ranks, states, mixtures and descriptions work as for
 * all orders. docs/formats/rows.md specifies each kind, with test vectors. */
#ifndef RECMAP_ROWS_H
#define RECMAP_ROWS_H

#include <recmap/batch.h>
#include <recmap/counts.h>
#include <recmap/dataset.h>
#include <recmap/order.h>
#include <recmap/parser.h>

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

/* Documents packed into rows of at most `size` elements, in groups; groups and the rows of
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

/* ---- The contents of a row order. */

/* The maximum number of elements of a row; 0 for an order over records. */
RECMAP_API uint64_t recmap_order_row_width(const recmap_order *order);

/* 1 if every row has exactly one piece: windows, and mixtures and views of them. */
RECMAP_API int recmap_order_has_windows(const recmap_order *order);

/* All record numbers of the order are below this limit: those in pieces for a row order; otherwise
 * the same as recmap_order_number_limit. The data set must have at least as many records. */
RECMAP_API uint64_t recmap_order_record_limit(const recmap_order *order);

/* The share of the places in the rows of a packed order that hold elements; 0 for other orders and
 * without rows. */
RECMAP_API double recmap_order_fill(const recmap_order *order);

/* The elements of all records of a chunked, packed or windows order, added ones included; and of
 * these, the elements that no row of an epoch has: elements of documents that were dropped or
 * truncated, the end that does not fill a row, and steps that no window reaches. 0 for other
 * orders.
 */
RECMAP_API uint64_t recmap_order_element_count(const recmap_order *order);
RECMAP_API uint64_t recmap_order_left_out(const recmap_order *order);

/* A stretch of one sequence: `count` elements, never 0, from `first` on. They fill the row from
 * `place` on. `first` numbers the document with its added elements; `length` is the number of its
 * elements, the added ones included. */
typedef struct recmap_piece {
    uint64_t record;
    uint64_t first;
    uint64_t count;
    uint64_t place;
    uint64_t length;
} recmap_piece;

/* The pieces of some rows, one row after the other. Row i has the items from ends[i - 1] (0 for the
 * first row) to ends[i] - 1. The caller owns it and can use it for any number of calls; only
 * functions of this header set its members. */
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

/* Computes the tables that the order needs for an epoch, so that the first position does not wait
 * for them: call it for the next epoch while this one is still running, from any thread. Uses all
 * cores. Orders that need nothing return at once. An order keeps two epochs, an even and an odd
 * one. Errors: INVALID for an epoch too large for a mixture; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_order_prepare(const recmap_order *order,
                                                               uint64_t epoch, recmap_error *error);

/* ---- Reading rows. */

/* Reads the rows at positions[0], ..., positions[count - 1] of the epoch into the columns of the
 * batch. The parser is one of tf.Example or SequenceExample with at least one feature of kind
 * SLICED, whose column is [count, row width, shape...]. The records of the batch are those that the
 * rows are cut from, each once, by ascending number; recmap_batch_columns has one row per position.
 *
 * Every sliced feature of a record must have as many elements as the counts say, and prepend and
 * append as many as the order adds. If the values have different sizes, surplus elements are
 * noticed only by rows that have the record's last counted element. Features of other kinds give
 * one value per row, from its record, and are allowed only with windows, whose rows have one
 * record each.
 *
 * Pictures (image.h): SLICED features with an `image` give [count, row width, shape..., height,
 * width, channels]. Only pictures of the rows are decoded. One that several places of the batch
 * have with the same draw is decoded once and copied. All pictures of a row have its draw, also
 * those of features that are not sliced: the seed is that of recmap_batch_set_draws, whose epoch
 * and positions do not count; the epoch is the one given here, the number is the row's
 * (recmap_order_at), and the position counts if the order may hold a row twice in an epoch. The
 * same decides the seeds of the rows (recmap_batch_seeds).
 *
 * Only elements of the rows are decoded. In a mapped shard, a record is checked when it is first
 * used and not again if its frame has 32 KiB or more, or if the rows hold only parts of it; all
 * others are checked each time. In a shard that is not mapped (READ, DIRECT, compressed, remote), a
 * record of 128 KiB or more is read as a whole and checked once; after that, only the bytes that
 * the rows need are read (and inflated, in a compressed shard), if all features are sliced. The
 * `data` of a record that was read in part is NULL, and its `size` is the whole record's:
 * recmap_dataset_gather reads all of it. Where stretches of long lists begin is remembered (at most
 * 64 MiB per data set). RECMAP_ACCESS_DIRECT reads rows as RECMAP_ACCESS_READ does.
 *
 * Errors: INVALID for an order over records or of other records, a parser that does not fit the
 * order (see above), random pictures without draws, or a position out of range; CORRUPT and FEATURE
 * for a record, with its number, shard and byte, as recmap_dataset_parse: FEATURE in particular if
 * a sliced feature is missing or has another number of elements than the counts say, and for a
 * picture that cannot be decoded, with its index in the record; the errors of recmap_dataset_gather
 * and recmap_order_pieces. The batch is then empty. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_dataset_rows(recmap_batch *batch, recmap_dataset *dataset, const recmap_order *order,
                    const recmap_parser *parser, uint64_t epoch, const uint64_t *positions,
                    size_t count, recmap_error *error);

/* The pieces of the rows in a batch that recmap_dataset_rows or a loader filled; NULL if the batch
 * has no rows. Valid as long as the batch's records. */
RECMAP_API const recmap_pieces *recmap_batch_pieces(const recmap_batch *batch);

/* The number of elements of each row; 0 if the batch has no rows. */
RECMAP_API uint64_t recmap_batch_row_width(const recmap_batch *batch);

/* Inputs of a model that follow from the pieces alone. Each array has `width` values per
 * row, for the first `width` elements: fewer than the row's to leave out an overlap. Places that no
 * piece fills are padding. Values are below 2^31 for all rows that recmap_dataset_rows accepts. */

/* 1 for the elements of the first piece of a row, 2 for the second, and so on; 0 for padding. */
RECMAP_API void recmap_pieces_segments(int32_t *segments, const recmap_pieces *pieces,
                                       uint64_t width);

typedef enum recmap_position_kind {
    RECMAP_POSITION_IN_PIECE = 0,  /* from 0 in each piece */
    RECMAP_POSITION_IN_RECORD = 1, /* from 0 in each document, with its added elements */
} recmap_position_kind;

/* The position of each element; 0 for padding. */
RECMAP_API void recmap_pieces_positions(int32_t *positions, const recmap_pieces *pieces,
                                        uint64_t width, recmap_position_kind kind);

/* 1 for elements, 0 for padding. */
RECMAP_API void recmap_pieces_mask(uint8_t *mask, const recmap_pieces *pieces, uint64_t width);

/* The rows as sequences that attend only to themselves, for attention over sequences of various
 * lengths: all rows, without what is past `width`, are seen as one array, in which sequence i is
 * [offsets[i], offsets[i + 1]). A sequence is a piece, or the padding of a row between or after
 * pieces, so that together they cover the array. `offsets` has room for
 * recmap_pieces_sequence_max(pieces) + 1 values; `longest` is the length of the longest sequence.
 * Returns their number. The array must have fewer than 2^31 elements. */
RECMAP_API size_t recmap_pieces_sequences(int32_t *offsets, int32_t *longest,
                                          const recmap_pieces *pieces, uint64_t width);
RECMAP_API size_t recmap_pieces_sequence_max(const recmap_pieces *pieces);

#ifdef __cplusplus
}
#endif
#endif
