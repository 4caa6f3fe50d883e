/* Columns: what a parser makes of a batch of records, in Arrow's memory layout. */
#ifndef RECMAP_COLUMNS_H
#define RECMAP_COLUMNS_H

#include <recmap/feature.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bytes value as a view. */
typedef struct recmap_bytes {
    const uint8_t *data; /* never NULL */
    size_t size;
} recmap_bytes;

/* One column. Buffers are 64-byte aligned, in the machine's byte order, and followed by room up to
 * a multiple of 64 bytes. A row is a record of the batch.
 *
 *     FIXED_LEN             values [rows, shape...]
 *     VAR_LEN               offsets[0] cuts values [n] into rows
 *     FIXED_LEN_SEQUENCE    values [rows, longest, shape...] and lengths; unpadded: offsets[0] cuts
 *                           values [steps, shape...] into rows
 *     RAGGED                offsets[0] cuts what offsets[1] cuts ... what is cut out of values;
 *                           uniform partitions at the inner end are dimensions of values instead
 *     SPARSE                values [n], indices [n, 1 + index keys] whose first is the row, and
 *                           offsets[0], which cuts both into rows
 *
 * Feature lists of SequenceExample have one level more: the steps of the row. */
typedef struct recmap_column {
    const char *name;
    recmap_feature_kind kind;
    recmap_element element;
    uint64_t row_count;

    const uint64_t *shape; /* dimensions of values: in each value_count / shape[0] elements */
    size_t dimension_count;
    uint64_t value_count; /* elements: the product of the shape */

    /* Elements in C order. BYTES: `views` as views, and `values` is NULL; copied: `bytes_offsets`,
     * one more than values, cut `values` into them, and `views` is NULL. */
    const void *values;
    const recmap_bytes *views;
    const int64_t *bytes_offsets;

    /* Row offsets from the outermost level to the innermost. The first has row_count + 1 entries,
     * each next one as many as the last entry of the one before, and one. */
    const int64_t *const *offsets;
    size_t offsets_count;

    const int64_t *lengths;       /* padded sequences: steps of each row */
    const int64_t *indices;       /* SPARSE */
    const uint64_t *dense_shape;  /* SPARSE: [rows, sizes...] */
    size_t dense_dimension_count; /* 1 + index keys; 0 for other kinds */

    /* Bit i (least significant first) is 1 where row i has a value: its record could be read, and,
     * but for FIXED_LEN with a default, has the feature. NULL where all rows have. Rows without
     * hold zeros, no values, or empty views. */
    const uint8_t *validity;
    uint64_t null_count;
} recmap_column;

/* The columns of one batch. Their memory is used again from batch to batch, unless something
 * exported still uses it.
 * Threads: columns belong to one thread at a time; what was exported from them may be released on
 * any. */
typedef struct recmap_columns recmap_columns;

/* No columns yet. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_columns_create(recmap_columns **columns,
                                                                recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_columns_destroy(recmap_columns *columns);

/* How many columns the last parse made, and column `column_index` (below that count). In the order
 * of the features; of SequenceExample, the context's before the feature lists'. They live until
 * the columns are parsed into again or destroyed. */
RECMAP_API size_t recmap_columns_count(const recmap_columns *columns);
RECMAP_API const recmap_column *recmap_columns_get(const recmap_columns *columns,
                                                   size_t column_index);
/* The column of that name, or NULL. */
RECMAP_API const recmap_column *recmap_columns_find(const recmap_columns *columns,
                                                    const char *name);

/* Rows of every column. */
RECMAP_API uint64_t recmap_columns_row_count(const recmap_columns *columns);

/* A row whose record could not be read (RECMAP_PARSE_COLLECT): all its columns are null. */
typedef struct recmap_failure {
    uint64_t row;
    uint64_t number; /* of the record */
    uint64_t offset; /* byte in the record, or RECMAP_NO_OFFSET */
    recmap_status status;
    const char *message; /* as that of a recmap_error; lives as long as the columns do */
} recmap_failure;

/* How many rows of the last parse could not be read. */
RECMAP_API size_t recmap_columns_failure_count(const recmap_columns *columns);
/* Failure `failure_index` (below that count), in the order of rows. */
RECMAP_API recmap_failure recmap_columns_get_failure(const recmap_columns *columns,
                                                     size_t failure_index);

/* Calls `release(owner)` once, when nobody uses the memory of the last parse any more: the columns
 * were parsed into again or destroyed, and all that was exported has been released. For keeping the
 * records that views lead into. At most one owner a parse. `release` is not NULL, may be called on
 * any thread, and is called at once where nothing was parsed. */
RECMAP_API void recmap_columns_set_owner(recmap_columns *columns, void *owner,
                                         void (*release)(void *owner));

#ifdef __cplusplus
}
#endif
#endif
