/* Columns: the current batch, and the memory of earlier batches for reuse. */
#ifndef RECMAP_PARSE_COLUMNS_COLUMNS_H
#define RECMAP_PARSE_COLUMNS_COLUMNS_H

#include "base/core/interrupt.h"
#include "parse/columns/batch_memory.h"
#include "parse/columns/draws.h"
#include "parse/columns/image_counts.h"
#include "parse/columns/row_repair.h"
#include "parse/decode/read_record.h"

/* How many batches are kept for reuse while exports still refer to them: as many as a pipeline
 * usually has in flight. */
enum { COLUMNS_POOL_SIZE = 4 };

/* A row whose record could not be read, so that it has no bytes to parse. */
struct lost_row {
    size_t row;
    recmap_status status;
    char *message;
};

struct recmap_columns {
    struct batch_memory *pool[COLUMNS_POOL_SIZE]; /* each is held; NULL until it is needed */
    size_t oldest;                                /* the entry to replace if all are in use */
    struct batch_memory *batch;                   /* an entry of `pool`, or NULL without columns */
    struct read_scratch *scratch;
    recmap_parser *scratch_parser; /* the parser whose records the scratch memory was used for */
    struct interrupt *interrupt;   /* of the current parse, or NULL */
    const recmap_allocator *allocator; /* of the current parse, or NULL */
    const struct lost_row *lost;       /* of the current parse, ascending */
    size_t lost_count;
    const struct row_repair *repair;   /* of the current parse, or NULL */
    size_t left_out_count;             /* rows that it left out so far */
    const recmap_draws *draws;         /* of the current parse, or NULL */
    size_t first_draw;                 /* the index in the draws of the first record */
    struct image_counts *image_counts; /* of the current parse, or NULL */
    struct image_scratch image_scratch;
};

/* Sets what the next parse checks to know whether to stop. NULL: nothing. */
void columns_set_interrupt(recmap_columns *columns, struct interrupt *interrupt);

/* Sets where the next parse gets memory that exports show. NULL: from the C library. */
void columns_set_allocator(recmap_columns *columns, const recmap_allocator *allocator);

/* Sets the draws of the next parse, and the index in them of its first record. NULL: none. */
void columns_set_draws(recmap_columns *columns, const recmap_draws *draws, size_t first);

/* Sets where the next parse counts its pictures. NULL: nowhere. */
void columns_set_image_counts(recmap_columns *columns, struct image_counts *counts);

/* The bytes of memory for pixels that the current batch has. */
uint64_t columns_pixels_size(const recmap_columns *columns);

/* Returns true if the parser has random images. */
bool columns_are_random(const recmap_parser *parser);

/* Returns INVALID if the parser has random images and there are no draws. */
recmap_status columns_check_draws(const recmap_parser *parser, const recmap_draws *draws,
                                  recmap_error *error);

/* Sets the rows that the next parse lists as failures without parsing their records. It must
 * collect failures. */
void columns_set_lost(recmap_columns *columns, const struct lost_row *lost, size_t count);

/* Sets who repairs rows that fail in the next parse, which then collects no failures. NULL: nobody.
 */
void columns_set_repair(recmap_columns *columns, const struct row_repair *repair);

/* Exchanges the scratch memory of two columns. Decoding pictures needs much of it, so a thread that
 * reads parts of many batches lends its own to each. */
void columns_swap_scratch(recmap_columns *columns, recmap_columns *other);

/* Releases the current batch. */
void columns_clear(recmap_columns *columns);

/* Releases the current batch if its memory came from an allocator. */
void columns_clear_allocated(recmap_columns *columns);

/* Prepares empty memory and scratch space for a batch. After RECMAP_NO_MEMORY there is no batch. */
recmap_status columns_begin(recmap_columns *columns, recmap_parser *parser, size_t row_count,
                            recmap_error *error);

/* Reads the rows from `first` up to `end` into the sinks of the batch, without assembling columns
 * from them. Record i is row i. Errors: as recmap_parser_parse; the batch is then incomplete. */
recmap_status columns_read_rows(recmap_columns *columns, const recmap_record *records, size_t first,
                                size_t end, recmap_parse_mode mode, recmap_error *error);

/* Returns INVALID if the parser has SLICED features, so that it cannot parse records. */
recmap_status columns_check_records(const recmap_parser *parser, recmap_error *error);

/* Prepares columns of rows, for a parser that may have SLICED features: room for `row_count` rows
 * of `row_width` elements. Errors: NO_MEMORY. */
recmap_status columns_begin_rows(recmap_columns *columns, const recmap_parser *parser,
                                 size_t row_count, uint64_t row_width, recmap_error *error);

/* Reads the features of a record that are not SLICED into row `row`. Rows must be read in order.
 * Errors: as recmap_parser_parse. */
recmap_status columns_read_row(recmap_columns *columns, const recmap_record *record, size_t row,
                               recmap_error *error);

/* Raises a fault as an error of the record. */
recmap_status columns_raise(recmap_error *error, const recmap_record *record,
                            const struct read_fault *fault);

/* Returns the current batch for an export, or NULL if there is none. */
struct batch_memory *columns_memory(const recmap_columns *columns);

#endif
