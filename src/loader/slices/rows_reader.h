/* Reading rows into a batch, in steps, so that several threads can decode their pictures.
 *
 *     rows_reader_begin    which records the rows need
 *     rows_reader_gather   these records
 *     rows_reader_cut      the columns, with room for pixels
 *     rows_reader_decode   all pictures; or rows_reader_decode_part for each part, on any thread
 *     rows_reader_finish   after all of them, or a failure
 *     rows_reader_close    at any time
 */
#ifndef RECMAP_LOADER_SLICES_ROWS_READER_H
#define RECMAP_LOADER_SLICES_ROWS_READER_H

#include "dataset/batch/batch.h"
#include "loader/slices/partial.h"
#include "loader/slices/row_pictures.h"

struct rows_reader {
    recmap_batch *batch;
    recmap_dataset *dataset;
    const recmap_parser *parser;
    struct partial_rows partial;   /* `has_failed`: read the rows again from the start */
    struct row_pictures *pictures; /* of each SLICED feature of pictures; NULL until rows are cut */
    size_t feature_count;
    size_t picture_count; /* distinct pictures of all features */
    size_t part_size;     /* of which these are a part */
};

/* Empties the batch and finds the pieces of the rows at some positions, which must live as long as
 * the reader. Errors: as recmap_dataset_rows. */
recmap_status rows_reader_begin(struct rows_reader *reader, recmap_batch *batch,
                                recmap_dataset *dataset, const recmap_order *order,
                                const recmap_parser *parser, uint64_t epoch,
                                const uint64_t *positions, size_t count, recmap_error *error);

/* Errors: as recmap_dataset_rows. */
recmap_status rows_reader_gather(struct rows_reader *reader, recmap_error *error);
recmap_status rows_reader_cut(struct rows_reader *reader, recmap_error *error);
recmap_status rows_reader_decode(struct rows_reader *reader, recmap_error *error);

/* The number of parts once the rows are cut. */
size_t rows_reader_part_count(const struct rows_reader *reader);

/* Decodes the pictures of a part with the interrupt, the counts and the scratch memory of these
 * columns. On failure, the rows must be read again by one thread to find which error to raise. */
recmap_status rows_reader_decode_part(const struct rows_reader *reader, size_t part,
                                      recmap_columns *columns);

/* Assembles the columns if `status`, which the preceding steps returned, is RECMAP_OK. Otherwise
 * completes the error. Errors: as recmap_dataset_rows. */
recmap_status rows_reader_finish(struct rows_reader *reader, recmap_status status,
                                 recmap_error *error);
void rows_reader_close(struct rows_reader *reader);

#endif
