/* Decodes the pictures of rows: each picture of the batch once, even if several rows share it. */
#ifndef RECMAP_LOADER_SLICES_ROW_PICTURES_H
#define RECMAP_LOADER_SLICES_ROW_PICTURES_H

#include "dataset/batch/batch.h"
#include "loader/slices/partial.h"
#include "parse/decode/read_fault.h"

/* The pictures of one feature, in rows that are cut. */
struct row_pictures {
    recmap_batch *batch;
    const recmap_parser *parser;
    const struct image_feature *image;
    const recmap_bytes *views; /* of all rows */
    uint8_t *pixels;
    size_t picture_size;  /* bytes of pixels */
    size_t element_count; /* pictures in an element */
    size_t row_count;     /* pictures in a row */
    size_t *distinct;     /* the first one of equal pictures, for each of them; ascending */
    size_t distinct_count;
    size_t *next;        /* for each picture, another one that is equal to it; 0: no further one */
    uint64_t byte_count; /* of the distinct pictures, encoded */
};

/* Finds the pictures that are to be decoded. Call row_pictures_deinit afterwards, even on failure.
 * Errors: NO_MEMORY. */
recmap_status row_pictures_init(struct row_pictures *pictures, recmap_batch *batch,
                                const recmap_parser *parser, const struct image_feature *image,
                                recmap_error *error);
void row_pictures_deinit(struct row_pictures *pictures);

/* Decodes one of the distinct pictures, and copies it to the equal ones, with the scratch memory of
 * these columns. Can be called for several pictures at the same time. Returns false and fills
 * `fault` on failure. */
bool row_pictures_read(const struct row_pictures *pictures, size_t distinct_index,
                       recmap_columns *columns, struct read_fault *fault);

/* Raises what is wrong with a picture. Errors: CORRUPT, FEATURE, with the byte in the record;
 * NO_MEMORY; CANCELLED. */
recmap_status row_pictures_fail(const struct row_pictures *pictures, size_t distinct_index,
                                struct partial_rows *partial, struct read_fault *fault,
                                recmap_error *error);

#endif
